package org.tamanoir.services.morph.handler;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.format.Format;
import org.tamanoir.format.RecordEncoder;
import org.tamanoir.format.RecordTree;
import org.tamanoir.format.RecordView;
import org.tamanoir.format.Target;
import org.tamanoir.message.Bound;
import org.tamanoir.message.Message;
import org.tamanoir.message.MessageHandler;
import org.tamanoir.message.Outcome;
import org.tamanoir.message.Outlet;

/** Drives one handler with a clock of its own, and counts what becomes of messages. */
final class Run implements Outlet {
    static final long SECOND = 1_000_000_000L;

    final MessageHandler handler;
    /** What left, in order: {@code port: field=value …}. */
    final List<String> out = new ArrayList<>();
    /** What left travels under the header of this stream. */
    final List<Integer> streams = new ArrayList<>();

    final List<@Nullable InetSocketAddress> destinations = new ArrayList<>();
    final List<Format> formats = new ArrayList<>();
    final Map<String, Long> drops = new TreeMap<>();
    long nowNs = -5 * SECOND;
    long in;
    long made;
    long merged;
    long held;
    /** What leaves is counted and not kept. */
    boolean quiet;

    private long left;
    private long ports = 1;
    private @Nullable Message replaced;
    private final Map<Format, Bound> bounds = new HashMap<>();
    private final Map<Integer, Packet> headers = new HashMap<>();

    Run(MessageHandler handler) {
        this.handler = handler;
    }

    static PlanNames names(Format... formats) {
        return new PlanNames(
                java.util.Arrays.stream(formats).collect(Collectors.toMap(Format::name, Target::of)), Path.of("."));
    }

    static Run of(String kind, Map<String, ?> settings, Format... formats) {
        return new Run(HandlerKinds.make("handlers.it." + kind, kind, settings, names(formats)));
    }

    Bound bound(Format format) {
        return bounds.computeIfAbsent(format, handler::bind);
    }

    Outcome give(Format format, int stream, Map<String, ?> values) {
        return give(format, stream, values, null);
    }

    Outcome give(Format format, int stream, Map<String, ?> values, @Nullable InetSocketAddress destination) {
        byte[] record = new RecordEncoder(format).encode(values);
        Message message = new Message().wrap(format, ByteBuffer.wrap(record), 0, record.length, header(stream), nowNs);
        message.setDestination(destination);
        return give(message);
    }

    Outcome give(Message message) {
        Bound bound = bound(message.format());
        in++;
        ports = 1;
        replaced = null;
        Outcome outcome;
        try {
            outcome = bound.handle(message, this);
        } catch (RuntimeException e) {
            in--;
            throw e;
        } catch (Exception e) {
            throw new AssertionError("thrown by the handler", e);
        }
        switch (outcome) {
            case FORWARD -> {
                for (int port = 0; port < Long.SIZE; port++) {
                    if ((ports >>> port & 1) != 0) {
                        Message leaving = replaced == null ? message : replaced;
                        assertThat(leaving.format().id())
                                .isEqualTo(bound.output(port).id());
                        leave(port, leaving);
                    }
                }
            }
            case HOLD -> held++;
            case MERGE -> merged++;
            case DROP -> {}
        }
        requireConservation();
        return outcome;
    }

    long expire() {
        long next = handler.expire(nowNs, this);
        requireConservation();
        return next;
    }

    void finish() {
        handler.finish(this);
        requireConservation();
        assertThat(held).as("held at the end").isZero();
    }

    long dropped() {
        return drops.values().stream().mapToLong(n -> n).sum();
    }

    long left() {
        return left;
    }

    private void requireConservation() {
        assertThat(held).isNotNegative();
        assertThat(in + made).isEqualTo(left + dropped() + merged + held);
    }

    Packet header(int stream) {
        return headers.computeIfAbsent(stream, Run::packet);
    }

    static Packet packet(int stream) {
        ByteBuffer bytes = ByteBuffer.allocate(256);
        new PacketBuilder()
                .service("org.tamanoir.services.Morph").stream(stream)
                        .checksum()
                        .write(bytes, ByteBuffer.wrap(new byte[9]));
        Packet packet = new Packet();
        assertThat(packet.parse(bytes.flip(), 0, bytes.limit())).isNull();
        return packet;
    }

    private void leave(int port, Message message) {
        left++;
        if (!quiet) {
            out.add(port + ": " + text(message.record()));
            streams.add(message.header().streamId());
            destinations.add(message.destination());
            formats.add(message.format());
        }
    }

    static String text(RecordView record) {
        return text(RecordTree.read(record)).replaceAll("^\\{|}$", "");
    }

    private static String text(@Nullable Object value) {
        if (value instanceof Map<?, ?> map) {
            return map.entrySet().stream()
                    .map(field -> field.getKey() + "=" + text(field.getValue()))
                    .collect(Collectors.joining(" ", "{", "}"));
        }
        if (value instanceof List<?> list) {
            return list.stream().map(Run::text).collect(Collectors.joining(", ", "[", "]"));
        }
        return value instanceof byte[] bytes ? new String(bytes, StandardCharsets.UTF_8) : Objects.toString(value);
    }

    @Override
    public long nowNs() {
        return nowNs;
    }

    @Override
    public void to(long bits) {
        ports = bits;
    }

    @Override
    public void replace(Message record) {
        replaced = record;
    }

    @Override
    public Outcome drop(String reason) {
        drops.merge(reason, 1L, Long::sum);
        return Outcome.DROP;
    }

    @Override
    public void emit(int port, Message message) {
        made++;
        leave(port, message);
    }

    @Override
    public void release(long messages, @Nullable String droppedFor) {
        held -= messages;
        if (droppedFor == null) {
            merged += messages;
        } else {
            drops.merge(droppedFor, messages, Long::sum);
        }
    }
}
