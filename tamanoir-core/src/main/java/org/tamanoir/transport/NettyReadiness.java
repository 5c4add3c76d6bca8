package org.tamanoir.transport;

import io.netty.channel.IoEvent;
import io.netty.channel.IoEventLoop;
import io.netty.channel.IoHandle;
import io.netty.channel.IoOps;
import io.netty.channel.IoRegistration;
import io.netty.channel.epoll.EpollIoHandle;
import io.netty.channel.epoll.EpollIoOps;
import io.netty.channel.nio.NioIoHandle;
import io.netty.channel.nio.NioIoOps;
import io.netty.channel.unix.FileDescriptor;
import io.netty.util.concurrent.Future;
import java.io.IOException;
import java.nio.channels.SelectableChannel;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * A {@link UdpReadiness} of Netty's loops.
 *
 * <p>A native socket's descriptor stays open until its readiness is cancelled; when the socket is closed the loop does
 * that by itself. With NIO the descriptor goes when the loop runs the next time after the cancellation.
 */
final class NettyReadiness implements UdpReadiness {
    private final IoEventLoop loop;
    private final Runnable readable;
    private @Nullable IoRegistration registration;
    private @Nullable Epolled epolled;

    private NettyReadiness(IoEventLoop loop, Runnable readable) {
        this.loop = loop;
        this.readable = readable;
    }

    /**
     * Starts to watch the socket.
     *
     * @param loop of the socket's kind: epoll for a native one, NIO for the other; runs on the calling thread
     * @param readable must take something from the socket or cancel, else it is called for ever
     */
    static NettyReadiness register(IoEventLoop loop, UdpSocket socket, Runnable readable) throws IOException {
        NettyReadiness readiness = new NettyReadiness(loop, readable);
        readiness.checkThread();
        if (socket instanceof NativeUdpSocket nativeSocket) {
            readiness.checkKind(Epolled.class, "native");
            Epolled handle = readiness.new Epolled(nativeSocket);
            readiness.epolled = handle;
            readiness.start(handle, EpollIoOps.EPOLLIN);
        } else if (socket instanceof NioUdpSocket nioSocket) {
            readiness.checkKind(Selected.class, "NIO");
            readiness.start(readiness.new Selected(nioSocket), NioIoOps.READ);
        } else {
            throw new IllegalArgumentException("not a socket of UdpSockets.bind: " + socket);
        }
        return readiness;
    }

    private void checkThread() {
        if (!loop.inEventLoop()) {
            throw new IllegalStateException(
                    "UdpReadiness on thread " + Thread.currentThread().getName() + "; use the event loop's own");
        }
    }

    private void checkKind(Class<? extends IoHandle> handle, String kind) throws IOException {
        if (!loop.isCompatible(handle)) {
            throw new IOException(
                    "this event loop cannot watch a " + kind + " UDP socket; use one transport kind for both");
        }
    }

    private void start(IoHandle handle, IoOps interest) throws IOException {
        Future<IoRegistration> done = loop.register(handle); // on its own thread a loop does it at once
        if (!done.isSuccess()) {
            handle.unregistered();
            throw new IOException("cannot watch the UDP socket: " + done.cause(), done.cause());
        }
        registration = done.getNow();
        try {
            registration.submit(interest);
        } catch (RuntimeException e) {
            cancel();
            throw new IOException("cannot watch the UDP socket: " + e.getMessage(), e);
        }
    }

    @Override
    public void cancel() {
        checkThread();
        if (registration != null) {
            registration.cancel();
            registration = null;
        }
    }

    @Override
    public void forsake() {
        Epolled handle = epolled;
        if (handle != null) {
            handle.letGo();
        }
    }

    private final class Epolled implements EpollIoHandle {
        private final SharedFd shared;
        private final FileDescriptor descriptor;
        private final AtomicBoolean gone = new AtomicBoolean();

        Epolled(NativeUdpSocket socket) throws IOException {
            shared = socket.shared();
            if (!shared.acquire()) {
                throw new IOException("UDP socket " + UdpAddress.text(socket.localAddress()) + " is closed");
            }
            descriptor = new FileDescriptor(socket.fd());
        }

        @Override
        public FileDescriptor fd() {
            return descriptor;
        }

        @Override
        public void handle(IoRegistration from, IoEvent event) {
            if (shared.isClosed()) {
                cancel();
            } else {
                readable.run();
            }
        }

        void letGo() {
            if (!gone.getAndSet(true)) {
                shared.release();
            }
        }

        @Override
        public void unregistered() {
            letGo();
        }

        @Override
        public void close() {
            // The descriptor is the socket's, not the loop's.
        }
    }

    private final class Selected implements NioIoHandle {
        private final NioUdpSocket socket;

        Selected(NioUdpSocket socket) {
            this.socket = socket;
        }

        @Override
        public SelectableChannel selectableChannel() {
            return socket.channel();
        }

        @Override
        public void handle(IoRegistration from, IoEvent event) {
            readable.run();
        }

        @Override
        public void close() {
            // The channel is the socket's, not the loop's.
        }
    }
}
