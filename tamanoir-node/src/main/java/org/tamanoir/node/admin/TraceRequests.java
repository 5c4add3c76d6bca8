package org.tamanoir.node.admin;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.ee.ExecutionEnvironment;
import org.tamanoir.trace.Step;
import org.tamanoir.trace.TraceResult;

/**
 * Sends single packets through the node for an operator who asks what becomes of them.
 *
 * <p>Thread contract: any thread, which waits for the packet's end, a minute at most.
 */
final class TraceRequests {
    /** In hexadecimal digits a body takes as many, and the rest of it. */
    private static final int MAX_PAYLOAD_BYTES = 30_000;

    /** Within the time in which the server closes a connection that is quiet. */
    private static final double MAX_TIMEOUT_SECONDS = 50;

    private static final double DEFAULT_TIMEOUT_SECONDS = 5;
    /** The port of the discard service: who names a source but no port wants no answer read. */
    private static final int DISCARD = 9;

    private final ExecutionEnvironment environment;
    private final int typeId;

    TraceRequests(ExecutionEnvironment environment) {
        this.environment = environment;
        this.typeId = environment.typeId();
    }

    /**
     * The way of a packet, as far as it was seen.
     *
     * @param outcome {@code sent}, {@code dropped}, {@code consumed} or {@code waiting}
     * @param dropReason null = it did not end here
     * @param waits where, and since when; null = it has left or ended
     * @param millis until its end, or that of the time
     */
    record Trace(
            String outcome,
            @Nullable String dropReason,
            @Nullable String waits,
            int bytes,
            double millis,
            List<TraceStep> steps) {
        static Trace of(TraceResult result) {
            return new Trace(
                    lower(result.outcome()),
                    result.dropReason() == null ? null : result.dropReason().name(),
                    result.waits(),
                    result.bytes(),
                    millis(result.ns()),
                    result.steps().stream().map(TraceStep::of).toList());
        }

        private static String lower(Enum<?> word) {
            return word.name().toLowerCase(Locale.ROOT);
        }

        private static double millis(long ns) {
            return ns / 1000 / 1000.0;
        }
    }

    /** What was decided in one part of the way. */
    record TraceStep(String stage, double afterMillis, String decision, String reason) {
        static TraceStep of(Step step) {
            return new TraceStep(
                    Trace.lower(step.stage()), Trace.millis(step.afterNs()), step.decision(), step.reason());
        }
    }

    /** Sends the packet that the request describes and returns its way. */
    Trace trace(Call call) throws ApiException {
        JsonFields fields = call.fields();
        InetAddress destination = address(fields, "destination");
        int port = fields.number("port", 1, 0xFFFF, 0);
        String service = fields.text("service");
        int classOfService = fields.number("classOfService", 0, 0xFF, -1);
        InetAddress source = address(fields, "source");
        int sourcePort = fields.number("sourcePort", 1, 0xFFFF, DISCARD);
        byte[] payload = payload(fields);
        double seconds = fields.seconds("timeoutSeconds", MAX_TIMEOUT_SECONDS, DEFAULT_TIMEOUT_SECONDS);
        fields.check();
        if (environment.udpAddresses().isEmpty()) {
            throw new ApiException(
                    ApiException.CONFLICT,
                    "the node receives no UDP packets, and one that is traced comes as one: give it an address for them");
        }
        PacketBuilder builder = new PacketBuilder().typeId(typeId);
        if (source != null) {
            builder.source(source);
        }
        if (destination != null) {
            builder.destination(destination);
        }
        if (port != 0) {
            builder.destinationPort(port);
        }
        if (service != null) {
            builder.service(service);
        }
        if (classOfService >= 0) {
            builder.classOfService(classOfService, 0);
        }
        Packet packet = builder.build(ByteBuffer.wrap(payload));
        InetSocketAddress from = source == null ? null : new InetSocketAddress(source, sourcePort);
        return trace(packet, from, Duration.ofMillis(Math.round(seconds * 1000)));
    }

    private Trace trace(Packet packet, @Nullable InetSocketAddress from, Duration atMost) throws ApiException {
        try {
            return Trace.of(environment.trace(packet, from, atMost));
        } catch (IllegalArgumentException e) {
            throw new ApiException(ApiException.INVALID, String.valueOf(e.getMessage()));
        } catch (IllegalStateException e) {
            throw new ApiException(ApiException.BUSY, String.valueOf(e.getMessage()));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new ApiException(ApiException.BUSY, "the node stops; the packet is on its way");
        }
    }

    private static @Nullable InetAddress address(JsonFields fields, String name) {
        String text = fields.text(name);
        return text == null ? null : RouteJson.address(fields, name, text);
    }

    private static byte[] payload(JsonFields fields) {
        String text = fields.text("payload");
        if (text == null) {
            return new byte[0];
        }
        if (text.length() > 2 * MAX_PAYLOAD_BYTES) {
            fields.problem(
                    "payload has " + text.length() / 2 + " octets: at most " + MAX_PAYLOAD_BYTES + " are allowed");
            return new byte[0];
        }
        try {
            return HexFormat.of().parseHex(text);
        } catch (IllegalArgumentException e) {
            fields.problem("payload: two hexadecimal digits for each octet are wanted, and nothing between them");
            return new byte[0];
        }
    }
}
