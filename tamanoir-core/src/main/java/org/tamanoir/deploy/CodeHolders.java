package org.tamanoir.deploy;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Finds threads that keep a service's classes in memory. Any thread. */
final class CodeHolders {
    private CodeHolders() {}

    /** Returns one line for each thread, by thread name. */
    static List<String> of(ServiceClassLoader loader) {
        List<String> holders = new ArrayList<>();
        for (Map.Entry<Thread, StackTraceElement[]> entry :
                Thread.getAllStackTraces().entrySet()) {
            List<String> reasons = reasons(entry.getKey(), entry.getValue(), loader);
            if (!reasons.isEmpty()) {
                holders.add("thread " + OneLine.quoted(entry.getKey().getName()) + " " + String.join(", ", reasons));
            }
        }
        holders.sort(null);
        return holders;
    }

    private static List<String> reasons(Thread thread, StackTraceElement[] stack, ServiceClassLoader loader) {
        List<String> reasons = new ArrayList<>();
        for (StackTraceElement frame : stack) {
            String frameLoader = frame.getClassLoaderName();
            if (frameLoader != null
                    && frameLoader.equals(loader.getName())
                    && loader.hasDefined(frame.getClassName())) {
                reasons.add("runs " + OneLine.of(frame.getClassName() + "." + frame.getMethodName()));
                break;
            }
        }
        if (thread.getClass().getClassLoader() == loader) {
            reasons.add("is an instance of " + OneLine.of(thread.getClass().getName()));
        }
        ClassLoader made = thread.getClass().getClassLoader();
        if (made != null && made != CodeHolders.class.getClassLoader()) {
            return reasons; // What a thread of another's making says of itself is that one's code.
        }
        if (thread.getContextClassLoader() == loader) {
            reasons.add("has the service's class loader as its context");
        }
        Thread.UncaughtExceptionHandler handler = thread.getUncaughtExceptionHandler();
        if (handler != null && handler.getClass().getClassLoader() == loader) {
            reasons.add("hands uncaught exceptions to "
                    + OneLine.of(handler.getClass().getName()));
        }
        return reasons;
    }
}
