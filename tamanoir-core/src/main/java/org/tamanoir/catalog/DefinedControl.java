package org.tamanoir.catalog;

import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.tamanoir.service.ControlHost;
import org.tamanoir.service.ServiceConfig;
import org.tamanoir.service.ServiceControl;

/**
 * The control of a service's definition, from the time that it is defined until it has gone.
 *
 * <p>Thread contract: any thread. The lock guards its state, and is not held while the control's code runs.
 */
public final class DefinedControl {
    /** Of services that have none. */
    public static final DefinedControl NONE = new DefinedControl(null);

    private final @Nullable Supplier<? extends ServiceControl> maker;
    private volatile @Nullable ServiceControl control;
    private boolean closed;

    private DefinedControl(@Nullable Supplier<? extends ServiceControl> maker) {
        this.maker = maker;
    }

    /** Returns one that is to be made by this; null: that of a service that has none. */
    public static DefinedControl of(@Nullable Supplier<? extends ServiceControl> maker) {
        return maker == null ? NONE : new DefinedControl(maker);
    }

    /** Returns one like this for another definition. */
    public DefinedControl again() {
        return of(maker);
    }

    /** Returns whether the service has a control, made or not. */
    public boolean isWanted() {
        return maker != null;
    }

    /**
     * Makes and initialises the control; once.
     *
     * @param replaced that of the definition which this one is to replace; null = there is none
     * @throws Exception what its code throws
     */
    public void open(ServiceConfig config, ControlHost host, @Nullable ServiceControl replaced) throws Exception {
        if (maker == null) {
            return;
        }
        ServiceControl made = maker.get();
        Thread thread = Thread.currentThread();
        ClassLoader before = thread.getContextClassLoader();
        thread.setContextClassLoader(made.getClass().getClassLoader());
        boolean kept = false;
        try {
            made.init(config, host);
            if (replaced != null && replaced.getClass() == made.getClass()) {
                made.follow(replaced);
            }
            kept = keep(made);
        } finally {
            if (!kept) {
                made.close();
            }
            thread.setContextClassLoader(before);
        }
    }

    /** Returns false if it was closed meanwhile. */
    private synchronized boolean keep(ServiceControl made) {
        if (!closed) {
            control = made;
        }
        return !closed;
    }

    /** Returns the control; null if the service has none, or it is not made yet or closed. */
    public @Nullable ServiceControl get() {
        return control;
    }

    /** Closes the control, or has it closed as soon as it is made. Does nothing the second time. */
    public void close() {
        ServiceControl last;
        synchronized (this) {
            last = control;
            control = null;
            closed = maker != null;
        }
        if (last != null) {
            last.close();
        }
    }
}
