package org.tamanoir.services.extra;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.Anep;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketLoan;
import org.tamanoir.anep.PacketSpace;
import org.tamanoir.format.FormatRegistry;
import org.tamanoir.format.FormatSource;
import org.tamanoir.nodeos.Flow;
import org.tamanoir.nodeos.Offload;
import org.tamanoir.nodeos.Policy;
import org.tamanoir.service.Counter;
import org.tamanoir.service.Service;
import org.tamanoir.service.ServiceConfig;
import org.tamanoir.service.ServiceControl;
import org.tamanoir.service.ServiceHost;
import org.tamanoir.service.StreamInfo;
import org.tamanoir.service.Verdict;

/**
 * Gives packets to a service as a node does, without one: what it sends is kept where that is wanted, tasks run behind
 * the packet, timers never. One thread.
 */
final class LoneHost implements ServiceHost, PacketSpace {
    /** What the service sent, or sends on, if not null. */
    @Nullable
    List<Packet> sent;

    private final Service service;
    private final @Nullable ServiceControl control;
    private final ByteBuffer received = ByteBuffer.allocateDirect(1 << 16);
    private final ByteBuffer space = ByteBuffer.allocateDirect(1 << 17);
    private final PacketLoan loan = new PacketLoan(Anep.DEFAULT_TYPE_ID, this);
    private final Map<String, Counter> counters = new HashMap<>();
    private final FormatSource formats = FormatSource.of(new FormatRegistry(1, 1 << 10));
    private @Nullable Runnable task;
    private int bytes;

    LoneHost(Service service, Map<String, String> config, @Nullable ServiceControl control) {
        this.service = service;
        this.control = control;
        service.attach(this);
        try {
            service.init(new ServiceConfig(config));
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    /** Returns what the service makes of packets. */
    List<Packet> through(List<Packet> packets) throws Exception {
        List<Packet> all = new ArrayList<>();
        sent = all;
        for (Packet packet : packets) {
            use(packet);
            next();
        }
        sent = null;
        return all;
    }

    /** Has {@link #next} give this packet. Returns the memory that it lies in from index 0 on, to change it. */
    ByteBuffer use(Packet packet) {
        bytes = packet.length();
        packet.copyTo(received, 0);
        return received;
    }

    Verdict next() throws Exception {
        Packet packet = loan.packet();
        packet.parse(received, 0, bytes);
        loan.lend();
        Verdict verdict = service.process(packet);
        if (loan.takeBack() != null) {
            throw new IllegalStateException("not a packet any more");
        }
        if (sent != null && verdict == Verdict.FORWARD) {
            sent.add(packet.copy());
        }
        Runnable due = task;
        if (due != null) {
            task = null;
            due.run();
        }
        return verdict;
    }

    @Override
    public ByteBuffer reserve(int octets) {
        return space.clear();
    }

    @Override
    public void commit(int octets) {}

    @Override
    public void run(Service service) {}

    @Override
    public StreamInfo stream() {
        return new StreamInfo(StreamInfo.Transport.UDP, null, new InetSocketAddress(0));
    }

    @Override
    public Counter counter(String name, Counter.Kind kind) {
        return counters.computeIfAbsent(name, own -> new Counter(own, kind));
    }

    @Override
    public Counter counter(String name) {
        return counters.computeIfAbsent(name, Counter::new);
    }

    @Override
    public boolean emit(Packet packet, @Nullable InetSocketAddress destination) {
        if (sent != null) {
            sent.add(packet.copy());
        }
        return true;
    }

    @Override
    public void elsewhere(InetSocketAddress destination) {}

    @Override
    public void dropping(String reason) {
        throw new IllegalStateException("dropped: " + reason);
    }

    @Override
    public Offload offload(Flow flow, Policy policy) {
        throw new UnsupportedOperationException();
    }

    @Override
    public boolean isOffloaded() {
        return false;
    }

    @Override
    public void droppedBelow(String reason, long packets) {}

    @Override
    public long nanoTime() {
        return 0;
    }

    @Override
    public void schedule(Duration delay, Runnable due) {}

    @Override
    public boolean execute(Runnable due) {
        task = due;
        return true;
    }

    @Override
    public FormatSource formats() {
        return formats;
    }

    @Override
    public @Nullable ServiceControl control() {
        return control;
    }
}
