package org.tamanoir.transport;

import io.netty.channel.IoHandle;
import io.netty.channel.IoHandler;
import io.netty.channel.IoHandlerContext;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.IoOps;
import io.netty.channel.IoRegistration;
import io.netty.channel.epoll.EpollIoEvent;
import io.netty.channel.epoll.EpollIoHandle;
import io.netty.channel.epoll.EpollIoOps;
import io.netty.channel.epoll.Native;
import io.netty.channel.unix.FileDescriptor;
import io.netty.util.collection.IntObjectHashMap;
import io.netty.util.collection.IntObjectMap;
import io.netty.util.concurrent.ThreadAwareExecutor;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Epoll for loops of which there are thousands, each with a few connections that are read only when there is room. It
 * differs from Netty's own:
 *
 * <ul>
 *   <li>It has one descriptor in place of three, and a table that grows with its sockets: Netty's begins with 32 KiB.
 *       Other threads wake it by the one event that all handlers have in their sets: it is always ready, and reported
 *       when somebody asks for that. Times are those of epoll_pwait2, which needs no timer.
 *   <li>It does not ask for EPOLLRDHUP. On that event Netty reads until the end of the stream, whether reading is
 *       wanted or not, so that all that the kernel holds of an ended stream, megabytes, would pile up here. The end is
 *       read where it stands instead, behind the last byte.
 *   <li>A socket that waits for nothing, as one does whose far side has ended while nothing is to be written, would
 *       report that end for ever: it is taken out of the set before the next wait, and put back in when it waits again.
 * </ul>
 *
 * <p>Thread contract: the owning thread of the loop; {@link #wakeup} and {@link IoRegistration#cancel} any thread.
 */
final class EpollHandler implements IoHandler {
    private static final Logger LOG = LoggerFactory.getLogger(EpollHandler.class);
    /** EPOLLONESHOT, linux/eventpoll.h: reported once, until it is asked for again. */
    private static final int ONCE = 1 << 30;
    /** All that sockets report: EPOLLIN, PRI, OUT, ERR and HUP are bits 0 to 4. */
    private static final EpollIoEvent[] EVENTS = new EpollIoEvent[32];

    /** Behind a failure of what an event led to, which would come again at once. */
    private static final long PAUSE_NS = 1_000_000_000;

    /** For the event of who wakes a loop that ends, which is there at once unless its thread waits for a processor. */
    private static final int MOST_LOOKS = 10;

    /** Ready for ever. */
    private static final FileDescriptor WAKER = Native.newEventFd();

    // The states of a handler.
    /** Does not wait: it will look at what is to be done before it does. */
    private static final int AWAKE = 0;
    /** Waits, or is about to. */
    private static final int WAITING = 1;
    /** Somebody wakes it: the waker's event comes, or has come and was not seen yet. */
    private static final int WAKING = 2;

    static {
        Native.eventFdWrite(WAKER.intValue(), 1);
        for (int i = 0; i < EVENTS.length; i++) {
            EpollIoOps ops = EpollIoOps.valueOf(i);
            EVENTS[i] = () -> ops;
        }
    }

    private final ThreadAwareExecutor owner;
    private final int mostEvents;
    private final FileDescriptor epoll;
    private final ByteBuffer events;
    private final long eventsAddress;
    private final IntObjectMap<Registration> registrations = new IntObjectHashMap<>();
    /** Those that began to wait for nothing since the last wait. */
    private final List<Registration> resting = new ArrayList<>(2);

    private final AtomicInteger state = new AtomicInteger(AWAKE);
    private @Nullable Object arrays;

    private EpollHandler(ThreadAwareExecutor owner, int mostEvents) {
        this.owner = owner;
        this.mostEvents = mostEvents;
        this.events = EpollCalls.newEvents(mostEvents);
        this.eventsAddress = MessageArray.addressOf(events);
        this.epoll = Native.newEpollCreate();
        try {
            Native.epollCtlAdd(epoll.intValue(), WAKER.intValue(), ONCE);
        } catch (IOException e) {
            close();
            throw new UncheckedIOException("epoll: " + e.getMessage(), e);
        }
    }

    /**
     * @param events that one wait can report
     */
    static IoHandlerFactory newFactory(int events) {
        return new IoHandlerFactory() {
            @Override
            public IoHandler newHandler(ThreadAwareExecutor owner) {
                return new EpollHandler(owner, events);
            }

            @Override
            public boolean isChangingThreadSupported() {
                return true;
            }
        };
    }

    @Override
    public int run(IoHandlerContext context) {
        takeOut();
        int ready;
        try {
            ready = context.canBlock() ? await(context) : look(0);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        takeNote(ready);
        int handled = 0;
        for (int i = 0; i < ready; i++) {
            handled += handle(i) ? 1 : 0;
        }
        return handled;
    }

    /** Sees whether it was woken, which is told once, before anything else, where something could be thrown. */
    private void takeNote(int ready) {
        for (int i = 0; i < ready; i++) {
            if (descriptor(i) == WAKER.intValue()) {
                state.compareAndSet(WAKING, AWAKE);
            }
        }
    }

    private int descriptor(int index) {
        return events.getInt(index * EpollCalls.EVENT_BYTES + EpollCalls.FD_OFFSET);
    }

    private int await(IoHandlerContext context) throws IOException {
        state.compareAndSet(AWAKE, WAITING);
        try {
            // Who had something to be done before that wakes nobody.
            if (!context.canBlock()) {
                return look(0);
            }
            return look(
                    context.deadlineNanos() == -1
                            ? EpollCalls.FOREVER
                            : Math.max(0, context.delayNanos(System.nanoTime())));
        } finally {
            state.compareAndSet(WAITING, AWAKE);
        }
    }

    private int look(long ns) throws IOException {
        return EpollCalls.await(epoll.intValue(), eventsAddress, mostEvents, ns);
    }

    /** Handles one of the events that came; returns whether it was a socket's. */
    private boolean handle(int index) {
        Registration registration = registrations.get(descriptor(index));
        if (registration == null || registration.wanted == 0) {
            return false; // The waker; or so said who handled an event before it in the same batch.
        }
        int what = events.getInt(index * EpollCalls.EVENT_BYTES);
        try {
            registration.handle.handle(registration, EVENTS[what & EVENTS.length - 1]);
        } catch (RuntimeException e) {
            LOG.warn("an event of a socket led to a fault of the node", e);
            pause();
        }
        return true;
    }

    /** Waits, whoever interrupts the thread, which a service may have done long before. */
    private static void pause() {
        boolean isInterrupted = false;
        long endNs = System.nanoTime() + PAUSE_NS;
        long left;
        while ((left = endNs - System.nanoTime()) > 0) {
            LockSupport.parkNanos(left);
            isInterrupted |= Thread.interrupted();
        }
        if (isInterrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** Takes those out that wait for nothing. */
    private void takeOut() {
        for (int i = 0; i < resting.size(); i++) {
            Registration each = resting.get(i);
            each.isResting = false;
            if (each.wanted == 0) {
                each.takeOut();
            }
        }
        resting.clear();
    }

    @Override
    public void wakeup() {
        if (!owner.isExecutorThread(Thread.currentThread()) && state.compareAndSet(WAITING, WAKING)) {
            try {
                Native.epollCtlMod(epoll.intValue(), WAKER.intValue(), Native.EPOLLIN | ONCE);
            } catch (IOException e) {
                state.compareAndSet(WAKING, WAITING);
                throw new UncheckedIOException("epoll: " + e.getMessage(), e);
            } catch (Throwable e) {
                state.compareAndSet(WAKING, WAITING); // Whoever comes next wakes it.
                throw e;
            }
        }
    }

    @Override
    public IoRegistration register(IoHandle handle) {
        Registration registration = new Registration((EpollIoHandle) handle);
        registrations.put(registration.fd, registration);
        handle.registered();
        return registration;
    }

    @Override
    public boolean isCompatible(Class<? extends IoHandle> handleType) {
        return EpollIoHandle.class.isAssignableFrom(handleType);
    }

    @Override
    public void prepareToDestroy() {
        for (Registration each : registrations.values().toArray(new Registration[0])) {
            each.cancel();
            try {
                each.handle.close();
            } catch (Exception e) {
                LOG.debug("a socket was not closed in order", e);
            }
        }
    }

    @Override
    public void destroy() {
        // Who wakes it right now must not come upon another's descriptor.
        for (int i = 0; i < MOST_LOOKS && state.get() == WAKING; i++) {
            try {
                takeNote(look(PAUSE_NS));
            } catch (IOException e) {
                break;
            }
        }
        close();
        if (arrays != null) {
            EpollCalls.free(arrays);
        }
    }

    private void close() {
        try {
            epoll.close();
        } catch (IOException e) {
            LOG.debug("an epoll set was not closed in order", e);
        }
    }

    /** A socket of the loop, in the set while it waits for something. */
    private final class Registration implements IoRegistration {
        final EpollIoHandle handle;
        final int fd;
        /** What it waits for, of EPOLLIN and EPOLLOUT. */
        int wanted;

        boolean isIn;
        boolean isResting;
        /** What the set has of it. */
        private int asked;

        private volatile boolean cancelled;

        Registration(EpollIoHandle handle) {
            this.handle = handle;
            this.fd = handle.fd().intValue();
        }

        @Override
        @SuppressWarnings("unchecked")
        public <T> T attachment() {
            if (arrays == null) {
                arrays = EpollCalls.newArrays();
            }
            return (T) arrays;
        }

        @Override
        public long submit(IoOps ops) {
            if (cancelled) {
                return -1;
            }
            wanted = ((EpollIoOps) ops).without(EpollIoOps.EPOLLRDHUP).value();
            try {
                if (wanted == 0) {
                    rest();
                } else if (!isIn) {
                    Native.epollCtlAdd(epoll.intValue(), fd, wanted);
                    isIn = true;
                    asked = wanted;
                } else if (asked != wanted) {
                    Native.epollCtlMod(epoll.intValue(), fd, wanted);
                    asked = wanted;
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            return wanted;
        }

        private void rest() {
            if (isIn && !isResting) {
                isResting = true;
                resting.add(this);
            }
        }

        void takeOut() {
            if (isIn) {
                isIn = false;
                try {
                    Native.epollCtlDel(epoll.intValue(), fd);
                } catch (IOException e) {
                    LOG.debug("a socket was not in the set any more", e);
                }
            }
        }

        @Override
        public boolean isValid() {
            return !cancelled;
        }

        @Override
        public boolean cancel() {
            synchronized (this) {
                if (cancelled) {
                    return false;
                }
                cancelled = true;
            }
            if (owner.isExecutorThread(Thread.currentThread())) {
                leave();
            } else {
                owner.execute(this::leave);
            }
            return true;
        }

        private void leave() {
            wanted = 0;
            if (registrations.get(fd) == this) { // Else it was closed, and another socket has its number.
                registrations.remove(fd);
            } else {
                isIn = false;
            }
            if (handle.fd().isOpen()) {
                takeOut();
            }
            isIn = false;
            handle.unregistered();
        }
    }
}
