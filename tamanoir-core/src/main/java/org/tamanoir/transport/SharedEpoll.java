package org.tamanoir.transport;

import com.sun.jna.Native;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.platform.VirtualThreads;

/**
 * One epoll(7) for the sockets of all virtual threads, which must not wait in the kernel themselves: they would keep a
 * processor's thread from the others. Each socket is watched for one event at a time (EPOLLONESHOT), which is told to its
 * {@link Watched}; whoever wants the next one says so.
 *
 * <p>A virtual thread of its own asks for events without waiting, as long as there are some, and lets those that it has
 * woken go first, so that under load nobody switches threads of the operating system. When there are none it parks, and
 * a platform thread waits in its place, in a second epoll whose one descriptor is the first: as the JDK's own pollers do
 * it.
 *
 * <p>struct epoll_event: events u32, data u64, where Netty says; data is the descriptor and the number of its
 * registration, since descriptors come again.
 *
 * <p>Thread contract: any thread. There is one in a process, and it stays until its end.
 */
final class SharedEpoll {
    private static final Logger LOG = LoggerFactory.getLogger(SharedEpoll.class);
    static final int EPOLLIN = 1;
    static final int EPOLLOUT = 4;
    static final int EPOLLERR = 8;
    static final int EPOLLHUP = 0x10;
    private static final int EPOLLONESHOT = 1 << 30;
    private static final int EPOLL_CTL_ADD = 1;
    private static final int EPOLL_CTL_DEL = 2;
    private static final int EPOLL_CTL_MOD = 3;
    private static final int EPOLL_CLOEXEC = 0x80000;
    /** No struct epoll_event is larger. */
    static final int EVENT_BYTES = 16;
    /** Events that one call can report. */
    private static final int EVENTS = 256;
    /** Before a call that failed is tried again, for want of memory for instance. */
    private static final long PAUSE_NS = 10_000_000;
    /** Between two lines in the log. */
    private static final long LINE_NS = 1_000_000_000;

    /** Of one registered socket. */
    abstract static class Watched {
        private int fd;
        private int number;

        /** Takes note of these events. The thread that asks for events; bounded, and may be called again. */
        abstract void report(int events);
    }

    private static @Nullable SharedEpoll instance;

    private final int eventBytes = io.netty.channel.epoll.Native.sizeofEpollEvent();
    private final int dataAt = io.netty.channel.epoll.Native.offsetofEpollData();
    private final int sockets = create();
    private final int idle;
    private final Thread poller = VirtualThreads.newThread("virtual threads' poller", this::askForEver);
    private volatile AtomicReferenceArray<@Nullable Watched> watched = new AtomicReferenceArray<>(1024);
    private int registrations;
    private volatile long lastLineNs = System.nanoTime() - LINE_NS;

    private SharedEpoll() {
        int second = -1;
        try {
            second = create();
            idle = second;
            control(idle, EPOLL_CTL_ADD, sockets, 0, 0, new NativeMemory(EVENT_BYTES));
            Thread waiter = new Thread(this::waitForEver, "virtual threads' sockets");
            waiter.setDaemon(true);
            waiter.start();
        } catch (RuntimeException | Error e) {
            LibC.close(sockets);
            LibC.close(second);
            throw e;
        }
        poller.start();
    }

    /**
     * Returns the one there is, made when it is wanted first.
     *
     * @throws IllegalStateException in one line, if the system has no descriptors for it; who asks later tries again
     */
    static synchronized SharedEpoll get() {
        SharedEpoll there = instance;
        if (there == null) {
            there = new SharedEpoll();
            instance = there;
        }
        return there;
    }

    private static int create() {
        int fd = LibC.epoll_create1(EPOLL_CLOEXEC);
        if (fd < 0) {
            throw new IllegalStateException("no epoll for virtual threads: " + LibC.strerror(Native.getLastError())
                    + "; raise the limit of open files");
        }
        return fd;
    }

    /** Watches a socket for the first time; events as in epoll_ctl(2), memory of {@value #EVENT_BYTES} bytes. */
    void begin(Watched socket, int fd, int events, NativeMemory memory) {
        enter(socket, fd);
        try {
            control(sockets, EPOLL_CTL_ADD, fd, events, socket.number, memory);
        } catch (IllegalStateException e) {
            leave(socket);
            throw e;
        }
    }

    /** Watches it for the next event. */
    void watch(Watched socket, int events, NativeMemory memory) {
        control(sockets, EPOLL_CTL_MOD, socket.fd, events, socket.number, memory);
    }

    /** Ends that for a socket that is still open. One that is closed has left by itself, and its number may be another's. */
    void end(Watched socket, boolean isOpen, NativeMemory memory) {
        leave(socket);
        if (isOpen && call(sockets, EPOLL_CTL_DEL, socket.fd, 0, 0, memory) != 0) {
            LOG.debug("a socket was not in the set any more: {}", LibC.strerror(Native.getLastError()));
        }
    }

    /** Locked like {@link #enter}, which would bring back what leaves while it copies. */
    private synchronized void leave(Watched socket) {
        watched.compareAndSet(socket.fd, socket, null);
    }

    private synchronized void enter(Watched socket, int fd) {
        AtomicReferenceArray<@Nullable Watched> all = watched;
        if (fd >= all.length()) {
            AtomicReferenceArray<@Nullable Watched> more =
                    new AtomicReferenceArray<>(Math.max(2 * all.length(), fd + 1));
            for (int i = 0; i < all.length(); i++) {
                more.set(i, all.get(i));
            }
            all = more;
        }
        socket.fd = fd;
        socket.number = ++registrations;
        all.set(fd, socket);
        watched = all;
    }

    private void control(int epoll, int operation, int fd, int events, int number, NativeMemory memory) {
        if (call(epoll, operation, fd, events, number, memory) != 0) {
            throw new IllegalStateException(
                    "epoll cannot watch a socket: " + LibC.strerror(Native.getLastError()) + "; end some streams");
        }
    }

    private int call(int epoll, int operation, int fd, int events, int number, NativeMemory memory) {
        memory.bytes.putInt(0, events | EPOLLONESHOT).putLong(dataAt, (long) number << 32 | fd);
        return LibC.epoll_ctl(epoll, operation, fd, memory.address);
    }

    private void askForEver() {
        NativeMemory events = new NativeMemory(EVENTS * eventBytes);
        NativeMemory own = new NativeMemory(EVENT_BYTES);
        while (true) {
            try {
                int count = LibC.epoll_wait(sockets, events.address, EVENTS, 0);
                if (count > 0) {
                    report(events.bytes, count);
                    Thread.yield();
                } else {
                    control(idle, EPOLL_CTL_MOD, sockets, EPOLLIN, 0, own);
                    LockSupport.park(this);
                }
            } catch (Throwable e) {
                failed(e);
            }
        }
    }

    private void report(ByteBuffer events, int count) {
        int next = 0;
        while (next < count) {
            try {
                int at = next * eventBytes;
                long data = events.getLong(at + dataAt);
                Watched socket = watched.get((int) data);
                if (socket != null && socket.number == (int) (data >>> 32)) {
                    socket.report(events.getInt(at));
                }
                next++;
            } catch (Throwable e) {
                failed(e); // An event is told once: it must not be lost.
            }
        }
    }

    private void waitForEver() {
        NativeMemory event = new NativeMemory(EVENT_BYTES);
        boolean isDue = false;
        while (true) {
            try {
                // The event is told once: what fails for want of memory is tried until it has woken the poller.
                isDue = isDue || LibC.epoll_wait(idle, event.address, 1, -1) > 0;
                if (isDue) {
                    LockSupport.unpark(poller);
                    isDue = false;
                }
            } catch (Throwable e) {
                failed(e);
            }
        }
    }

    /** Pauses, and says so as often as the log allows. Throws nothing, or the thread would end. */
    private void failed(Throwable e) {
        try {
            LockSupport.parkNanos(PAUSE_NS);
            long nowNs = System.nanoTime();
            if (nowNs - lastLineNs >= LINE_NS) {
                lastLineNs = nowNs;
                LOG.warn("the sockets of virtual threads could not be asked, and are again: {}", e.toString());
            }
        } catch (Throwable again) {
            // Without memory there is no line.
        }
    }
}
