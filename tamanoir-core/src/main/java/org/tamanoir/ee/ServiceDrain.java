package org.tamanoir.ee;

import java.util.LinkedHashSet;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.platform.Platform;
import org.tamanoir.transport.BackgroundThread;

/**
 * Closes the controls of services that were replaced, each when its last instance has ended, however many they are and
 * however long their streams last.
 *
 * <p>Thread contract: any thread; one of its own waits for all of them, while there are any.
 */
final class ServiceDrain {
    private static final Logger LOG = LoggerFactory.getLogger(ServiceDrain.class);
    /** It is woken when an instance ends. */
    private static final long LOOK_NS = TimeUnit.HOURS.toNanos(1);

    private final Instances instances;
    private final Controls controls;
    private final Platform platform;
    private final Set<ServiceDefinition> draining = new LinkedHashSet<>();
    private @Nullable Thread waiting;

    ServiceDrain(Instances instances, Controls controls, Platform platform) {
        this.instances = instances;
        this.controls = controls;
        this.platform = platform;
    }

    /** Adds a service that gets no more instances. */
    synchronized void add(ServiceDefinition definition) {
        draining.add(definition);
        if (waiting != null) {
            platform.unpark(waiting);
            return;
        }
        Thread fresh = new BackgroundThread("drain services", this::run);
        try {
            fresh.start();
            waiting = fresh;
        } catch (OutOfMemoryError e) {
            LOG.warn(
                    "service {}: no memory for the thread that closes its earlier definition; the next reload tries again",
                    definition.label());
        }
    }

    private void run() {
        try {
            drain();
        } finally {
            ends();
        }
    }

    private synchronized void ends() {
        if (waiting == Thread.currentThread()) {
            waiting = null; // By a fault: the next service begins another.
        }
    }

    private void drain() {
        Set<ServiceDefinition> left;
        while (!(left = left()).isEmpty()) {
            Set<ServiceDefinition> ended = instances.ended(left);
            if (ended.isEmpty()) {
                platform.park(this, LOOK_NS);
            }
            ended.forEach(controls::close);
            synchronized (this) {
                draining.removeAll(ended);
            }
            boolean ignored = Thread.interrupted(); // By a control, perhaps: it would wait no more.
        }
    }

    /** Returns those that have not ended; without any this thread ends, and the next service begins another. */
    private synchronized Set<ServiceDefinition> left() {
        if (draining.isEmpty()) {
            waiting = null;
            instances.forget(Thread.currentThread());
        }
        return Set.copyOf(draining);
    }
}
