package org.tamanoir.ee;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.Packet;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.format.FormatSource;
import org.tamanoir.nodeos.Flow;
import org.tamanoir.nodeos.Level;
import org.tamanoir.nodeos.LevelCounters;
import org.tamanoir.nodeos.Offload;
import org.tamanoir.nodeos.Policy;
import org.tamanoir.service.Counter;
import org.tamanoir.service.Service;
import org.tamanoir.service.ServiceControl;
import org.tamanoir.service.ServiceHost;
import org.tamanoir.service.StreamInfo;
import org.tamanoir.traffic.CounterTotals;
import org.tamanoir.traffic.NamedCounters;

/**
 * Has an instance of a service initialise itself and close again, on its own thread and as the service's contract says, to
 * see whether it takes its settings. What it sends leaves nowhere, and its timers do not run.
 *
 * <p>Thread contract: the service's thread, but for {@link #outcome}.
 */
final class ServiceTrial implements ServiceHost {
    private static final InetSocketAddress SELF = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);

    private final NodeContext context;
    private final ServiceDefinition definition;
    private final StreamInfo stream;
    /** Bounded and checked as those of streams, and counted for nobody. */
    private final NamedCounters counters = new NamedCounters(new CounterTotals());

    private final CountDownLatch ended = new CountDownLatch(1);
    private volatile @Nullable Throwable failure;

    ServiceTrial(NodeContext context, ServiceDefinition definition, StreamInfo.Transport transport) {
        this.context = context;
        this.definition = definition;
        this.stream = new StreamInfo(transport, transport == StreamInfo.Transport.TCP ? SELF : null, SELF);
    }

    /** Makes an instance and waits until it has closed; returns what {@code init} or the constructor threw, null = nothing. */
    @Nullable
    Throwable outcome() throws InterruptedException {
        Service service = definition.factory().get();
        service.setDaemon(true);
        service.setName("trial of " + definition.label());
        service.attach(this);
        service.start();
        try {
            ended.await();
            return failure;
        } finally {
            service.interrupt(); // Where nobody waits any more.
        }
    }

    @Override
    public void run(Service service) {
        try {
            service.init(definition.config());
        } catch (Throwable e) {
            failure = e;
        }
        try {
            service.close();
        } catch (Throwable e) {
            // Whoever takes its settings may be run.
        } finally {
            ended.countDown();
        }
    }

    @Override
    public StreamInfo stream() {
        return stream;
    }

    @Override
    public Counter counter(String name) {
        return counters.get(name);
    }

    @Override
    public Counter counter(String name, Counter.Kind kind) {
        return counters.get(name, kind);
    }

    @Override
    public boolean emit(Packet packet, @Nullable InetSocketAddress destination) {
        return true;
    }

    @Override
    public void elsewhere(InetSocketAddress destination) {}

    @Override
    public void dropping(String reason) {}

    @Override
    public Offload offload(Flow flow, Policy policy) {
        return new Idle(definition.key(), flow, policy);
    }

    @Override
    public boolean isOffloaded() {
        return false;
    }

    @Override
    public void droppedBelow(String reason, long packets) {}

    @Override
    public long nanoTime() {
        return context.platform().nanoTime();
    }

    @Override
    public void schedule(Duration delay, Runnable task) {}

    @Override
    public boolean execute(Runnable task) {
        return false;
    }

    @Override
    public FormatSource formats() {
        return context.formats().source();
    }

    @Override
    public @Nullable ServiceControl control() {
        return definition.control().get();
    }

    /** At no level: nothing comes to it. */
    private record Idle(long serviceKey, Flow flow, Policy policy) implements Offload {
        @Override
        public Level level() {
            return Level.MODULE;
        }

        @Override
        public void change(Policy other) {}

        @Override
        public LevelCounters counters() {
            return LevelCounters.ZERO;
        }

        @Override
        public boolean isClosed() {
            return false;
        }

        @Override
        public void close() {}
    }
}
