package org.tamanoir.transport;

import java.io.IOException;
import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.PortUnreachableException;
import java.net.SocketException;
import java.net.SocketOption;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.DatagramChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.tamanoir.platform.Causes;
import org.tamanoir.routing.Addresses;

/**
 * UDP by {@link DatagramChannel}, one system call a datagram. The channel allocates an address whenever the sender
 * changes. Java has no IPV6_V6ONLY: a socket bound to [::] takes the IPv4 port too; what arrives there is discarded,
 * as the native socket would not get it.
 *
 * <p>Thread contract: that of {@link UdpSocket}; {@link #close} from any thread.
 */
final class NioUdpSocket implements UdpSocket {
    private static final int BUFFER_BYTES = 4 << 20;

    private final DatagramChannel channel;
    private final InetSocketAddress local;
    private final boolean v6;
    private final Object waiterLock = new Object();
    private @Nullable Selector waiter;

    private NioUdpSocket(DatagramChannel channel, InetSocketAddress local) {
        this.channel = channel;
        this.local = local;
        this.v6 = local.getAddress() instanceof Inet6Address;
    }

    static NioUdpSocket bind(InetSocketAddress wanted) throws IOException {
        boolean v6 = wanted.getAddress() instanceof Inet6Address;
        DatagramChannel channel = null;
        try {
            channel = DatagramChannel.open(v6 ? StandardProtocolFamily.INET6 : StandardProtocolFamily.INET);
            channel.configureBlocking(false);
            raise(channel, StandardSocketOptions.SO_RCVBUF);
            raise(channel, StandardSocketOptions.SO_SNDBUF);
            channel.bind(wanted);
            int port = ((InetSocketAddress) channel.getLocalAddress()).getPort();
            return new NioUdpSocket(channel, new InetSocketAddress(wanted.getAddress(), port));
        } catch (IOException | RuntimeException e) {
            if (channel != null) {
                channel.close();
            }
            throw UdpSockets.bindFailure(wanted, Causes.text(e));
        }
    }

    /** Makes one that sends to this address, and receives from there, alone. */
    static NioUdpSocket connect(InetSocketAddress to) throws IOException {
        NioUdpSocket socket = bind(new InetSocketAddress(UdpAddress.anyLike(to.getAddress()), 0));
        try {
            socket.channel.connect(to);
            return socket;
        } catch (IOException | RuntimeException e) {
            socket.close();
            throw UdpSockets.connectFailure(to, Causes.text(e));
        }
    }

    private static void raise(DatagramChannel channel, SocketOption<Integer> option) throws IOException {
        if (channel.getOption(option) < BUFFER_BYTES) {
            channel.setOption(option, BUFFER_BYTES);
        }
    }

    DatagramChannel channel() {
        return channel;
    }

    @Override
    public InetSocketAddress localAddress() {
        return local;
    }

    @Override
    public void receiveInTransit() throws IOException {
        throw new IOException("UDP " + UdpAddress.text(localAddress())
                + ": java.nio tells neither marks nor destinations of datagrams; use the native transport");
    }

    @Override
    public UdpBatch newBatch() {
        return new NioUdpBatch();
    }

    @Override
    public UdpSender newSender() {
        return newSender(0);
    }

    @Override
    public UdpSender newSender(int scope) {
        return newSender(scope, null);
    }

    @Override
    public UdpSender newSender(UdpRefusals refusals) {
        return newSender(0, refusals);
    }

    private UdpSender newSender(int scope, @Nullable UdpRefusals refusals) {
        int by = scope == 0 ? UdpAddress.scope(local.getAddress()) : scope;
        return new NioUdpSender(channel, v6, by, refusals);
    }

    @Override
    public void joinGroup(InetAddress group) throws IOException {
        try {
            // NIO wants an interface: the socket's own, or the first that can.
            NetworkInterface own = NetworkInterface.getByInetAddress(local.getAddress());
            if (own == null) {
                own = NetworkInterface.networkInterfaces()
                        .filter(NioUdpSocket::carriesGroups)
                        .findFirst()
                        .orElseThrow(() -> new IOException("no interface carries multicast"));
            }
            channel.join(group, own);
        } catch (IOException | RuntimeException e) {
            throw new IOException(
                    "UDP " + UdpAddress.text(local) + " cannot join " + Addresses.host(group) + ": " + e.getMessage(),
                    e);
        }
    }

    private static boolean carriesGroups(NetworkInterface candidate) {
        try {
            return candidate.isUp() && candidate.supportsMulticast();
        } catch (SocketException e) {
            return false;
        }
    }

    @Override
    public int receive(UdpBatch batch) throws IOException {
        if (!(batch instanceof NioUdpBatch slots)) {
            throw new IllegalArgumentException("batch of another kind of socket; take it from newBatch()");
        }
        slots.clear();
        try {
            for (int tries = 0; tries < NioUdpBatch.LIMIT_MESSAGES && slots.hasRoom(); tries++) {
                if (!(channel.receive(slots.next()) instanceof InetSocketAddress sender)) {
                    break;
                }
                if (!(v6 && sender.getAddress() instanceof Inet4Address)) {
                    slots.keep(sender);
                }
            }
        } catch (PortUnreachableException e) {
            return slots.count(); // an earlier datagram's error, cleared by being reported
        } catch (ClosedChannelException e) {
            throw closed(e);
        }
        return slots.count();
    }

    @Override
    public boolean awaitReadable(Duration timeout) throws IOException {
        try {
            Selector selector = waiter();
            long timeoutMs = TimeUnit.NANOSECONDS.toMillis(Poll.toNanos(timeout) + 999_999);
            int ready = timeoutMs == 0 ? selector.selectNow() : selector.select(timeoutMs);
            selector.selectedKeys().clear();
            return ready > 0 && channel.isOpen();
        } catch (ClosedSelectorException e) {
            return false; // closed while waiting
        } catch (ClosedChannelException e) {
            throw closed(e);
        }
    }

    private Selector waiter() throws IOException {
        synchronized (waiterLock) {
            if (waiter == null) {
                Selector selector = Selector.open();
                try {
                    channel.register(selector, SelectionKey.OP_READ);
                } catch (ClosedChannelException e) {
                    selector.close();
                    throw e;
                }
                waiter = selector;
            }
            return waiter;
        }
    }

    private IOException closed(Exception cause) {
        return new IOException("UDP socket " + UdpAddress.text(local) + " is closed", cause);
    }

    @Override
    public void close() {
        try {
            channel.close();
            synchronized (waiterLock) {
                if (waiter != null) {
                    waiter.close(); // wakes awaitReadable, and lets the channel's descriptor go
                }
            }
        } catch (IOException e) {
            // The descriptor is gone all the same: close(2) reports, but does not refuse.
        }
    }
}
