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
import io.netty.util.concurrent.ThreadAwareExecutor;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a loop of a virtual thread waits by: the thread parks, and the {@link SharedEpoll} unparks it when one of its
 * sockets is ready. It has no descriptor of its own. Netty's channels see what they see with {@link EpollHandler}:
 * level-triggered events, and no EPOLLRDHUP.
 *
 * <p>Thread contract: the owning thread of the loop; {@link #wakeup} any thread.
 */
final class ParkingHandler implements IoHandler {
    private static final Logger LOG = LoggerFactory.getLogger(ParkingHandler.class);
    private static final VarHandle SIGNALLED;
    private static final VarHandle REPORTED;

    static {
        try {
            SIGNALLED = MethodHandles.lookup().findVarHandle(ParkingHandler.class, "signalled", boolean.class);
            REPORTED = MethodHandles.lookup().findVarHandle(Socket.class, "reported", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** Sockets that one poll(2) looks at without more memory: a sender and a next hop, mostly. */
    private static final int USUAL_SOCKETS = 4;

    private static final int POLLFD_BYTES = 8;

    private final SharedEpoll epoll = SharedEpoll.get();
    private final List<Socket> sockets = new ArrayList<>(USUAL_SOCKETS);
    /** An event for epoll, or pollfds: fd i32, events i16, revents i16. */
    private NativeMemory memory = new NativeMemory(USUAL_SOCKETS * POLLFD_BYTES);

    private final WriteArrays arrays = new WriteArrays();
    private @Nullable Future<?> alarm;
    private long alarmNs;
    private volatile @Nullable Thread thread;
    /** Something is to be looked at. */
    private volatile boolean signalled;

    private ParkingHandler() {}

    static IoHandlerFactory newFactory() {
        return new IoHandlerFactory() {
            @Override
            public IoHandler newHandler(ThreadAwareExecutor executor) {
                return new ParkingHandler();
            }

            @Override
            public boolean isChangingThreadSupported() {
                return true; // Before it runs.
            }
        };
    }

    @Override
    public int run(IoHandlerContext context) {
        signalled = false;
        int handled = handleReported();
        if (handled > 0) {
            return handled;
        }
        if (!context.canBlock()) {
            return pollNow() ? handleReported() : 0;
        }
        park(context);
        signalled = false;
        return handleReported();
    }

    private int handleReported() {
        int handled = 0;
        for (int i = sockets.size() - 1; i >= 0; i--) {
            // What it leads to may close others.
            if (i < sockets.size() && sockets.get(i).handleReported()) {
                handled++;
            }
        }
        return handled;
    }

    /** Asks the kernel which sockets are ready; returns whether one is. */
    private boolean pollNow() {
        int bytes = sockets.size() * POLLFD_BYTES;
        if (bytes > memory.bytes.capacity()) {
            memory = new NativeMemory(2 * bytes);
        }
        int count = 0;
        for (Socket socket : sockets) {
            // A negative descriptor is passed over.
            memory.bytes.putInt(count, socket.wanted == 0 ? -1 : socket.fd);
            memory.bytes.putInt(count + 4, socket.wanted);
            count += POLLFD_BYTES;
        }
        // Events and those returned are 16 bits each; IN, OUT, ERR and HUP are the same numbers as epoll's.
        if (LibC.poll(memory.address, sockets.size(), 0) <= 0) {
            return false;
        }
        for (int i = 0; i < sockets.size(); i++) {
            Socket socket = sockets.get(i);
            if (socket.wanted != 0) {
                REPORTED.getAndBitwiseOr(socket, (int) memory.bytes.getShort(i * POLLFD_BYTES + 6));
            }
        }
        return true;
    }

    /** Waits for a socket, a {@link #wakeup}, or the time of the loop's next task. */
    private void park(IoHandlerContext context) {
        arrays.giveBack();
        thread = Thread.currentThread();
        for (Socket socket : sockets) {
            socket.watch();
        }
        long nowNs = System.nanoTime();
        setAlarm(nowNs, context.delayNanos(nowNs));
        boolean interrupted = false;
        while (!signalled) {
            LockSupport.park(this);
            interrupted |= Thread.interrupted(); // With its interrupt pending a thread would not park.
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /**
     * Sees to it that the thread wakes in this time. Most waits end before the time of any task, and the time of the
     * next task stays the same: so the alarm stands until it goes off, or has to be earlier.
     */
    private void setAlarm(long nowNs, long delayNs) {
        Future<?> standing = alarm;
        // One whose time has come may have gone off, though it is not done yet.
        long standsNs = standing == null ? 0 : alarmNs - nowNs;
        if (delayNs > Alarms.LONGEST_NS || standsNs > 0 && standsNs <= delayNs) {
            return;
        }
        if (standing != null) {
            standing.cancel(false);
        }
        alarmNs = nowNs + delayNs;
        alarm = Alarms.CLOCK.schedule(this::wakeup, delayNs, TimeUnit.NANOSECONDS);
    }

    private static final class Alarms {
        /** Not watched: 146 years. */
        static final long LONGEST_NS = Long.MAX_VALUE / 2;

        static final ScheduledThreadPoolExecutor CLOCK = newClock();

        private static ScheduledThreadPoolExecutor newClock() {
            ScheduledThreadPoolExecutor clock = new ScheduledThreadPoolExecutor(1, body -> {
                Thread thread = new Thread(body, "virtual threads' alarms");
                thread.setDaemon(true);
                return thread;
            });
            clock.setRemoveOnCancelPolicy(true);
            return clock;
        }
    }

    @Override
    public void wakeup() {
        if (!(boolean) SIGNALLED.getAndSet(this, true)) {
            try {
                LockSupport.unpark(thread);
            } catch (Throwable e) {
                signalled = false; // So that the next one unparks it.
                throw e;
            }
        }
    }

    @Override
    public IoRegistration register(IoHandle handle) {
        Socket socket = new Socket((EpollIoHandle) handle);
        sockets.add(socket);
        handle.registered();
        return socket;
    }

    @Override
    public boolean isCompatible(Class<? extends IoHandle> handleType) {
        return EpollIoHandle.class.isAssignableFrom(handleType);
    }

    @Override
    public void prepareToDestroy() {
        for (Socket each : sockets.toArray(new Socket[0])) {
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
        arrays.giveBack();
        if (alarm != null) {
            alarm.cancel(false);
        }
    }

    /** Events as Netty gives them to its channels. */
    private record Event(EpollIoOps ops) implements EpollIoEvent {
        private static final Event[] USUAL = new Event[32];

        static {
            for (int i = 0; i < USUAL.length; i++) {
                USUAL[i] = new Event(EpollIoOps.valueOf(i));
            }
        }

        static Event of(int bits) {
            return bits >= 0 && bits < USUAL.length ? USUAL[bits] : new Event(EpollIoOps.valueOf(bits));
        }
    }

    private final class Socket extends SharedEpoll.Watched implements IoRegistration {
        private final EpollIoHandle handle;
        private final int fd;
        private int wanted;
        /** What the shared epoll watches for; nothing from its report on. */
        private int watching;

        private boolean begun;
        private boolean cancelled;
        /** Written by any thread that asks the kernel. */
        @SuppressWarnings("UnusedVariable") // By its handle.
        private volatile int reported;

        Socket(EpollIoHandle handle) {
            this.handle = handle;
            this.fd = handle.fd().intValue();
        }

        @Override
        void report(int events) {
            REPORTED.getAndBitwiseOr(this, events);
            wakeup();
        }

        /** Gives the channel what was reported and is still wanted. */
        boolean handleReported() {
            int events = reported;
            if (events == 0) {
                return false;
            }
            events = (int) REPORTED.getAndSet(this, 0);
            watching = 0; // Or it is said to be watched once more than needed.
            if (wanted == 0) {
                return false;
            }
            events &= wanted | SharedEpoll.EPOLLERR | SharedEpoll.EPOLLHUP;
            if (events == 0) {
                return false;
            }
            handle.handle(this, Event.of(events));
            return true;
        }

        /** Has the shared epoll watch for what is wanted; what is watched for beyond that wakes in vain, once. */
        void watch() {
            if ((wanted & ~watching) == 0) {
                return;
            }
            if (begun) {
                epoll.watch(this, wanted, memory);
            } else {
                epoll.begin(this, fd, wanted, memory);
                begun = true;
            }
            watching = wanted;
        }

        @Override
        @SuppressWarnings("unchecked")
        public <T> T attachment() {
            return (T) arrays.get();
        }

        @Override
        public long submit(IoOps ops) {
            wanted = ((EpollIoOps) ops).value() & (SharedEpoll.EPOLLIN | SharedEpoll.EPOLLOUT);
            return wanted;
        }

        @Override
        public boolean isValid() {
            return !cancelled;
        }

        @Override
        public boolean cancel() {
            if (cancelled) {
                return false;
            }
            cancelled = true;
            wanted = 0;
            sockets.remove(this);
            if (begun) {
                epoll.end(this, handle.fd().isOpen(), memory);
            }
            handle.unregistered();
            return true;
        }
    }
}
