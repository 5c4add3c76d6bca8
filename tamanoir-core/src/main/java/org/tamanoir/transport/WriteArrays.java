package org.tamanoir.transport;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * The memory by which Netty's epoll channels give several buffers to one writev(2): 16 KiB, which a handler of theirs
 * has to attach to each socket, and which only Netty's own package can make. A thread has it from its first such write
 * to its next wait, so that there are about as many as processors and not as streams.
 *
 * <p>Thread contract: one thread.
 */
final class WriteArrays {
    /** That lie idle; more are freed. */
    private static final int MAX_IDLE = 64;

    private static final ArrayDeque<Object> IDLE = new ArrayDeque<>();
    private static final MethodHandle NEW;
    private static final MethodHandle FREE;

    static {
        try {
            Class<?> type = Class.forName("io.netty.channel.epoll.NativeArrays");
            MethodHandles.Lookup inside = MethodHandles.privateLookupIn(type, MethodHandles.lookup());
            NEW = inside.findConstructor(type, MethodType.methodType(void.class))
                    .asType(MethodType.methodType(Object.class));
            FREE = inside.findVirtual(type, "free", MethodType.methodType(void.class))
                    .asType(MethodType.methodType(void.class, Object.class));
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private @Nullable Object current;

    Object get() {
        Object arrays = current;
        if (arrays == null) {
            synchronized (IDLE) {
                arrays = IDLE.poll();
            }
            if (arrays == null) {
                arrays = call(NEW);
            }
            current = arrays;
        }
        return arrays;
    }

    void giveBack() {
        Object arrays = current;
        if (arrays == null) {
            return;
        }
        current = null;
        synchronized (IDLE) {
            if (IDLE.size() < MAX_IDLE) {
                IDLE.push(arrays);
                return;
            }
        }
        free(arrays);
    }

    private static Object call(MethodHandle make) {
        try {
            return (Object) make.invokeExact();
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new IllegalStateException("it declares no exception", e);
        }
    }

    private static void free(Object arrays) {
        try {
            FREE.invokeExact(arrays);
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new IllegalStateException("it declares no exception", e);
        }
    }
}
