package org.tamanoir.transport;

import io.netty.channel.ChannelException;
import io.netty.channel.epoll.Native;
import java.io.IOException;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * What of Netty's epoll is private to it, and needed for a handler of one's own: the wait with a time in nanoseconds, and
 * the memory in which its channels gather writes. The build names the one version of Netty for which this is so.
 *
 * <p>struct epoll_event: events u32, padding where the architecture has it, data u64, of which the first half is the
 * descriptor.
 */
final class EpollCalls {
    static final int EVENT_BYTES = Native.sizeofEpollEvent();
    static final int FD_OFFSET = Native.offsetofEpollData();
    static final long FOREVER = -1;

    private static final int NS_PER_MS = 1_000_000;
    private static final int NS_PER_S = 1_000_000_000;
    private static final int NO_TIMER = -1;
    /** The least of the times, in ms, for which Netty may do without a timer. */
    private static final long ANY_TIME = 1;

    private static final MethodHandle WAIT;
    private static final MethodHandle WAIT_MS;
    private static final MethodHandle NEW_ARRAYS;
    private static final MethodHandle FREE_ARRAYS;
    /** Without epoll_pwait2, before Linux 5.11, times are rounded up to milliseconds. */
    private static final boolean HAS_NANOSECONDS;

    static {
        try {
            MethodHandles.Lookup inside = MethodHandles.privateLookupIn(Native.class, MethodHandles.lookup());
            WAIT = inside.findStatic(
                    Native.class,
                    "epollWait0",
                    MethodType.methodType(
                            long.class, int.class, long.class, int.class, int.class, int.class, int.class, long.class));
            WAIT_MS = inside.findStatic(
                    Native.class,
                    "epollWait",
                    MethodType.methodType(int.class, int.class, long.class, int.class, int.class));
            Class<?> arrays = inside.findClass("io.netty.channel.epoll.NativeArrays");
            NEW_ARRAYS = inside.findConstructor(arrays, MethodType.methodType(void.class))
                    .asType(MethodType.methodType(Object.class));
            FREE_ARRAYS = inside.findVirtual(arrays, "free", MethodType.methodType(void.class))
                    .asType(MethodType.methodType(void.class, Object.class));
            HAS_NANOSECONDS = hasNanoseconds();
        } catch (ReflectiveOperationException | IOException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private EpollCalls() {}

    private static boolean hasNanoseconds() throws IOException {
        var epoll = Native.newEpollCreate();
        try {
            ByteBuffer event = newEvents(1);
            return waitNs(epoll.intValue(), MessageArray.addressOf(event), 1, 1) >= 0;
        } catch (ChannelException e) {
            return false; // It wanted to set a timer.
        } finally {
            epoll.close();
        }
    }

    /** Returns memory for so many events. */
    static ByteBuffer newEvents(int events) {
        return ByteBuffer.allocateDirect(events * EVENT_BYTES).order(ByteOrder.nativeOrder());
    }

    /**
     * Waits for events.
     *
     * @param address of memory for them
     * @param ns 0 = look only; {@link #FOREVER}
     * @return how many came
     */
    static int await(int epoll, long address, int events, long ns) throws IOException {
        int ready = ns > 0 && HAS_NANOSECONDS
                ? waitNs(epoll, address, events, ns)
                : waitMs(
                        epoll,
                        address,
                        events,
                        ns < 0
                                ? -1
                                : (int) Math.min(Integer.MAX_VALUE, ns / NS_PER_MS + (ns % NS_PER_MS == 0 ? 0 : 1)));
        if (ready < 0) {
            throw new IOException("epoll_wait failed: " + LibC.strerror(-ready));
        }
        return ready;
    }

    private static int waitNs(int epoll, long address, int events, long ns) {
        int seconds = (int) Math.min(Integer.MAX_VALUE, ns / NS_PER_S);
        int rest = (int) (ns % NS_PER_S);
        try {
            return (int) ((long) WAIT.invokeExact(epoll, address, events, NO_TIMER, seconds, rest, ANY_TIME) >> 32);
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    private static int waitMs(int epoll, long address, int events, int ms) {
        try {
            return (int) WAIT_MS.invokeExact(epoll, address, events, ms);
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    /** Returns memory for gathered writes, as Netty's channels want it of their registrations. */
    static Object newArrays() {
        try {
            return (Object) NEW_ARRAYS.invokeExact();
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    static void free(Object arrays) {
        try {
            FREE_ARRAYS.invokeExact(arrays);
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    private static IllegalStateException unexpected(Throwable e) {
        if (e instanceof Error error) {
            throw error;
        }
        if (e instanceof RuntimeException known) {
            throw known;
        }
        return new IllegalStateException("none of these throws checked exceptions", e);
    }
}
