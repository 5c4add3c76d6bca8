package org.tamanoir.platform;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.management.ManagementFactory;
import java.lang.management.PlatformManagedObject;
import org.jspecify.annotations.Nullable;

/**
 * Virtual threads, which Java has since version 21, looked up by name so that the program compiles and runs on 17.
 *
 * <p>Thread contract: any thread.
 */
public final class VirtualThreads {
    private static final int FIRST_VERSION = 21;
    /** JEP 491. */
    private static final int FIRST_THAT_LEAVES = 24;
    /** Takes the name and the body, and gives a thread that is not started; null where there are none. */
    private static final @Nullable MethodHandle MAKE = lookUp();

    private static final @Nullable MethodHandle IS_VIRTUAL = MAKE == null ? null : lookUpIsVirtual();

    private VirtualThreads() {}

    /** Returns {@code (name, body) -> Thread.ofVirtual().name(name).unstarted(body)}. */
    private static @Nullable MethodHandle lookUp() {
        if (Runtime.version().feature() < FIRST_VERSION) {
            return null; // Up to 20 they are a preview, which asking for would fail.
        }
        try {
            MethodHandles.Lookup lookup = MethodHandles.publicLookup();
            Class<?> builder = Class.forName("java.lang.Thread$Builder$OfVirtual");
            MethodHandle begin = lookup.findStatic(Thread.class, "ofVirtual", MethodType.methodType(builder));
            MethodHandle name = lookup.findVirtual(builder, "name", MethodType.methodType(builder, String.class));
            MethodHandle end =
                    lookup.findVirtual(builder, "unstarted", MethodType.methodType(Thread.class, Runnable.class));
            MethodHandle named = MethodHandles.foldArguments(name, begin);
            return MethodHandles.collectArguments(end, 0, named);
        } catch (ReflectiveOperationException e) {
            return null;
        }
    }

    private static @Nullable MethodHandle lookUpIsVirtual() {
        try {
            return MethodHandles.publicLookup()
                    .findVirtual(Thread.class, "isVirtual", MethodType.methodType(boolean.class));
        } catch (ReflectiveOperationException e) {
            return null;
        }
    }

    /** Returns whether a thread is a virtual one: the JVM does not count what such a thread uses. */
    public static boolean isVirtual(Thread thread) {
        try {
            return IS_VIRTUAL != null && (boolean) IS_VIRTUAL.invokeExact(thread);
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new IllegalStateException("it declares no exception", e);
        }
    }

    /** Returns whether a virtual thread that waits for a monitor leaves its carrier: Java 24 and later. */
    public static boolean leaveForMonitors() {
        return Runtime.version().feature() >= FIRST_THAT_LEAVES;
    }

    /**
     * Lets more or fewer threads of the operating system carry virtual ones, for those that a virtual thread does not
     * leave: Java 24 and later.
     *
     * @return how many carry them now; 0 where the JVM does not let anybody say
     */
    public static synchronized int addCarriers(int more) {
        try {
            Class<? extends PlatformManagedObject> type = Class.forName("jdk.management.VirtualThreadSchedulerMXBean")
                    .asSubclass(PlatformManagedObject.class);
            Object scheduler = ManagementFactory.getPlatformMXBean(type);
            int carriers = (int) type.getMethod("getParallelism").invoke(scheduler) + more;
            type.getMethod("setParallelism", int.class).invoke(scheduler, carriers);
            return carriers;
        } catch (ReflectiveOperationException | RuntimeException e) {
            return 0;
        }
    }

    /** Returns in one line why this JVM has none, and what would help; empty when it has. */
    public static String whyNot() {
        return MAKE != null
                ? ""
                : "Java " + Runtime.version().feature() + " has no virtual threads; run the node on Java "
                        + FIRST_VERSION + " or later, or leave threads at 'platform'";
    }

    /**
     * Makes a virtual thread that is not started.
     *
     * @throws UnsupportedOperationException where there are none
     */
    public static Thread newThread(String name, Runnable body) {
        if (MAKE == null) {
            throw new UnsupportedOperationException(whyNot());
        }
        try {
            return (Thread) MAKE.invokeExact(name, body);
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new IllegalStateException("it declares no exception", e);
        }
    }
}
