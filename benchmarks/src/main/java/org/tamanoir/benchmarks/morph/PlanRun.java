package org.tamanoir.benchmarks.morph;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.format.Format;
import org.tamanoir.format.FormatRegistry;
import org.tamanoir.format.FormatSource;
import org.tamanoir.format.RecordView;
import org.tamanoir.message.Message;
import org.tamanoir.message.Outcome;
import org.tamanoir.message.Outlet;
import org.tamanoir.service.ControlHost;
import org.tamanoir.service.Service;
import org.tamanoir.service.ServiceConfig;
import org.tamanoir.service.StreamInfo.Transport;
import org.tamanoir.services.morph.Engine;
import org.tamanoir.services.morph.MorphControl;

/** A plan without a node around it: what a message costs in its handlers alone. One thread, besides the plan's contexts. */
final class PlanRun implements Outlet, AutoCloseable {
    private static final int MAX_FORMATS = 64;
    private static final int MAX_FORMAT_BYTES = 1 << 20;

    private final MorphControl control = new MorphControl();
    private final Engine engine;
    private final Message message = new Message();
    private final Packet header = header();
    /** Records that left. */
    long left;

    private boolean replaced;
    private volatile boolean woken;

    private final Consumer<RecordView> taker;

    /**
     * Begins with a plan from a file.
     *
     * @param taker takes records that leave
     */
    PlanRun(Path file, Consumer<RecordView> taker) {
        this.taker = taker;
        control.init(new ServiceConfig(Map.of("plan", file.toString())), new Host());
        engine = control.open(Transport.UDP, () -> woken = true);
    }

    private static final class Host implements ControlHost {
        private final FormatSource formats = FormatSource.of(new FormatRegistry(MAX_FORMATS, MAX_FORMAT_BYTES));

        @Override
        public String serviceName() {
            return MessageSender.SERVICE;
        }

        @Override
        public FormatSource formats() {
            return formats;
        }

        @Override
        public long nanoTime() {
            return System.nanoTime();
        }

        @Override
        public Service instance(String name, Duration timeout) {
            throw new IllegalArgumentException(name + ": there are no other services here");
        }
    }

    private static Packet header() {
        ByteBuffer bytes = ByteBuffer.allocate(256);
        new PacketBuilder().service(MessageSender.SERVICE).stream(7).write(bytes, ByteBuffer.allocate(0));
        Packet packet = new Packet();
        packet.parse(bytes.flip(), 0, bytes.limit());
        return packet;
    }

    /** Returns the records in memory as a node has them. */
    static ByteBuffer[] direct(Iterable<byte[]> records) {
        List<ByteBuffer> all = new ArrayList<>();
        records.forEach(
                record -> all.add(ByteBuffer.allocateDirect(record.length).put(0, record)));
        return all.toArray(ByteBuffer[]::new);
    }

    /** Handles a record. */
    void handle(Format format, ByteBuffer memory, int at, int bytes) {
        replaced = false;
        if (engine.handle(message.wrap(format, memory, at, bytes, header, nowNs()), this) == Outcome.FORWARD) {
            left++;
            if (!replaced) {
                taker.accept(message.record());
            }
        }
    }

    /** Handles a record that is all of this memory. */
    void handle(Format format, ByteBuffer record) {
        handle(format, record, 0, record.capacity());
    }

    /** Takes what contexts have finished, if they have; returns whether they had. */
    boolean take() {
        boolean any = woken;
        if (any) {
            woken = false;
            engine.expire(nowNs(), this);
        }
        return any;
    }

    /** Returns the plan and its counts. */
    Map<String, Object> view() {
        return control.view();
    }

    @Override
    public long nowNs() {
        return System.nanoTime();
    }

    @Override
    public void to(long ports) {}

    @Override
    public void replace(Message record) {
        replaced = true;
        taker.accept(record.record());
    }

    @Override
    public Outcome drop(String reason) {
        return Outcome.DROP;
    }

    @Override
    public void emit(int port, Message made) {
        left++;
        taker.accept(made.record());
    }

    @Override
    public void release(long messages, @Nullable String droppedFor) {}

    @Override
    public void close() {
        control.close(engine);
    }
}
