package org.tamanoir.testkit;

import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.tamanoir.format.FormatSource;
import org.tamanoir.service.ControlHost;
import org.tamanoir.service.ControlledBy;
import org.tamanoir.service.Service;
import org.tamanoir.service.ServiceConfig;
import org.tamanoir.service.ServiceControl;

/**
 * What the harness lends to a service's control: other services are those that the service's own classes can see.
 *
 * <p>Thread contract: any thread; the clock is the JVM's.
 */
record HarnessControl(Class<? extends Service> type, FormatSource formats) implements ControlHost {
    /** Makes the control that a service's class names, and gives it to the host; null if it names none. */
    static @Nullable ServiceControl of(Class<? extends Service> type, ServiceConfig config, HarnessHost host) {
        ControlledBy by = type.getAnnotation(ControlledBy.class);
        if (by == null) {
            return null;
        }
        try {
            ServiceControl control = by.value().getConstructor().newInstance();
            control.init(config, new HarnessControl(type, host.formats()));
            host.control(control);
            return control;
        } catch (Exception e) {
            throw new AssertionError(type.getName() + " is not defined, its control failed: " + e, e);
        }
    }

    @Override
    public String serviceName() {
        return type.getName();
    }

    @Override
    public long nanoTime() {
        return System.nanoTime();
    }

    @Override
    public Service instance(String name, Duration timeout) {
        try {
            return Class.forName(name, true, type.getClassLoader())
                    .asSubclass(Service.class)
                    .getConstructor()
                    .newInstance();
        } catch (ReflectiveOperationException | ClassCastException e) {
            throw new IllegalArgumentException("service " + name + " is not to be had: " + e, e);
        }
    }
}
