package org.tamanoir.node.cli;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Has a task done at each SIGHUP, where the JVM can say when one comes. It is called by reflection: {@code sun.misc} is
 * no part of Java, though all JDKs have it, and a compiler that takes warnings for errors does not take it.
 *
 * <p>Thread contract: any thread; the task runs on one of the JVM's, a new one for each signal.
 */
public final class HangUp {
    private static final Logger LOG = LoggerFactory.getLogger(HangUp.class);

    private HangUp() {}

    /** Has signals passed over, with a line in the log, while a server starts: by default one would end the process. */
    public static void passOver(String server) {
        onHangUp(() -> LOG.warn("SIGHUP: not reloaded, the {} starts: reload it when it is ready", server));
    }

    /** Runs the task at each signal from now on; where none can be had there is a line in the log. */
    public static void onHangUp(Runnable task) {
        try {
            Class<?> handler = Class.forName("sun.misc.SignalHandler");
            Class<?> signal = Class.forName("sun.misc.Signal");
            InvocationHandler called = (proxy, method, arguments) -> switch (method.getName()) {
                case "handle" -> {
                    task.run();
                    yield null;
                }
                case "hashCode" -> System.identityHashCode(proxy);
                case "equals" -> arguments != null && proxy == arguments[0];
                default -> "reload";
            };
            Object handling = Proxy.newProxyInstance(HangUp.class.getClassLoader(), new Class<?>[] {handler}, called);
            Object hangUp = signal.getConstructor(String.class).newInstance("HUP");
            signal.getMethod("handle", signal, handler).invoke(null, hangUp, handling);
        } catch (ReflectiveOperationException | RuntimeException e) {
            LOG.info("SIGHUP does not reload here ({}): use 'ctl reload', or restart", e.toString());
        }
    }
}
