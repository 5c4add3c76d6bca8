package org.tamanoir.transport;

import io.netty.channel.DefaultSelectStrategyFactory;
import io.netty.channel.IoHandle;
import io.netty.channel.IoHandler;
import io.netty.channel.IoHandlerContext;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.IoOps;
import io.netty.channel.IoRegistration;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollIoOps;
import io.netty.util.concurrent.ThreadAwareExecutor;

/**
 * Netty's epoll with two things changed, for connections that are read only when there is room:
 *
 * <ul>
 *   <li>It does not ask for EPOLLRDHUP. On that event Netty reads until the end of the stream, whether reading is
 *       wanted or not, so that all that the kernel holds of an ended stream, megabytes, would pile up here. The end is
 *       read where it stands instead, behind the last byte.
 *   <li>A socket that waits for nothing, as one does whose far side has ended while nothing is to be written, is taken
 *       out of the epoll set by Netty 4.2.17 and not put back in: the next wait, for room to write for instance, fails
 *       with ENOENT and breaks the connection. Here it is registered anew.
 * </ul>
 *
 * <p>Thread contract: the owning thread of the loop; {@link #wakeup} any thread.
 */
final class EpollHandler implements IoHandler {
    private final IoHandler epoll;

    private EpollHandler(IoHandler epoll) {
        this.epoll = epoll;
    }

    /**
     * @param events that one wait can report
     */
    static IoHandlerFactory newFactory(int events) {
        IoHandlerFactory factory = EpollIoHandler.newFactory(events, DefaultSelectStrategyFactory.INSTANCE);
        return new IoHandlerFactory() {
            @Override
            public IoHandler newHandler(ThreadAwareExecutor executor) {
                return new EpollHandler(factory.newHandler(executor));
            }

            @Override
            public boolean isChangingThreadSupported() {
                return factory.isChangingThreadSupported();
            }
        };
    }

    @Override
    public void initialize() {
        epoll.initialize();
    }

    @Override
    public int run(IoHandlerContext context) {
        return epoll.run(context);
    }

    @Override
    public void prepareToDestroy() {
        epoll.prepareToDestroy();
    }

    @Override
    public void destroy() {
        epoll.destroy();
    }

    @Override
    public IoRegistration register(IoHandle handle) throws Exception {
        return new Registration(handle);
    }

    @Override
    public void wakeup() {
        epoll.wakeup();
    }

    @Override
    public boolean isCompatible(Class<? extends IoHandle> handleType) {
        return epoll.isCompatible(handleType);
    }

    private final class Registration implements IoRegistration {
        private final IoHandle handle;
        private IoRegistration current;
        private boolean waits;
        private boolean takenOut;

        Registration(IoHandle handle) throws Exception {
            this.handle = handle;
            this.current = epoll.register(handle);
        }

        @Override
        public <T> T attachment() {
            return current.attachment();
        }

        @Override
        public long submit(IoOps wanted) {
            EpollIoOps ops = ((EpollIoOps) wanted).without(EpollIoOps.EPOLLRDHUP);
            boolean nothing = ops.equals(EpollIoOps.NONE);
            if (nothing && waits) {
                waits = false;
                takenOut = true;
                current.cancel();
                return 0;
            }
            if (nothing && takenOut) {
                return 0;
            }
            if (takenOut) {
                takenOut = false;
                try {
                    current = epoll.register(handle);
                } catch (Exception e) {
                    throw new IllegalStateException("a socket that was registered once is of the right kind", e);
                }
            }
            waits = !nothing;
            return current.submit(ops);
        }

        @Override
        public boolean isValid() {
            return takenOut || current.isValid();
        }

        @Override
        public boolean cancel() {
            boolean wasOut = takenOut;
            takenOut = false;
            return current.cancel() || wasOut;
        }
    }
}
