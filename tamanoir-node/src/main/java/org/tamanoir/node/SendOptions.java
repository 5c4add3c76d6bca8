package org.tamanoir.node;

import java.net.InetAddress;
import java.net.UnknownHostException;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.Anep;
import org.tamanoir.anep.PacketBuilder;
import picocli.CommandLine.Option;

/** What stands in each packet that {@code send} makes. Thread contract: filled in by picocli, then only read. */
final class SendOptions {
    private static final String SHIPPED_SERVICES = "org.tamanoir.services.";

    @Option(
            names = "--destination",
            paramLabel = "ADDR[:PORT]",
            description = "where the packets are to end up: option 2, and the port in option 10")
    @Nullable
    String destination;

    @Option(names = "--source", paramLabel = "ADDR", description = "option 1: whose packets they are")
    @Nullable
    String source;

    @Option(
            names = "--service",
            paramLabel = "NAME",
            description = "the service that nodes shall run; a name without a dot means org.tamanoir.services.NAME")
    @Nullable
    String service;

    @Option(names = "--class", paramLabel = "0-255", description = "class of service")
    @Nullable
    Integer classOfService;

    @Option(names = "--drop-precedence", paramLabel = "0-255", description = "drop precedence within the class")
    int dropPrecedence;

    @Option(
            names = "--hop-budget",
            paramLabel = "HOPS",
            defaultValue = "32",
            description = "active nodes that a packet may cross (default: ${DEFAULT-VALUE})")
    int hopBudget;

    @Option(names = "--checksum", description = "option 3: a checksum over each packet")
    boolean checksum;

    @Option(
            names = "--timestamps",
            description = "each packet carries its time of sending; a receiver on the same host then tells the latency")
    boolean timestamps;

    @Option(
            names = "--type-id",
            paramLabel = "ID",
            defaultValue = "0x544D",
            description = "the execution environment that the packets are for (default: ${DEFAULT-VALUE})")
    String typeId = "";

    @Option(names = "--stream-id", paramLabel = "ID", description = "id of the first stream (default: a random one)")
    @Nullable
    Integer streamId;

    /** @throws IllegalArgumentException in one line, for a value that no packet can carry */
    PacketBuilder newBuilder(int stream) {
        PacketBuilder builder = new PacketBuilder().typeId(parsedTypeId());
        if (source != null) {
            builder.source(address(source));
        }
        if (destination != null) {
            addDestination(builder, destination);
        }
        if (service != null) {
            builder.service(qualified(service));
        }
        if (classOfService != null || dropPrecedence != 0) {
            builder.classOfService(classOfService == null ? 0 : classOfService, dropPrecedence);
        }
        builder.stream(stream).hopBudget(hopBudget);
        if (timestamps) {
            builder.timestamps();
        }
        return checksum ? builder.checksum() : builder;
    }

    int parsedTypeId() {
        return parseTypeId(typeId);
    }

    static int parseTypeId(String text) {
        try {
            return Integer.decode(text);
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException(
                    "--type-id '" + text + "': write 1 to 65535, or 0x and hexadecimal digits, as in 0x"
                            + Integer.toHexString(Anep.DEFAULT_TYPE_ID),
                    e);
        }
    }

    static String qualified(String name) {
        int version = name.indexOf(':');
        String plain = version < 0 ? name : name.substring(0, version);
        return plain.indexOf('.') < 0 ? SHIPPED_SERVICES + name : name;
    }

    private static void addDestination(PacketBuilder builder, String text) {
        int colon = text.lastIndexOf(':');
        boolean hasPort = colon >= 0 && (text.indexOf(':') == colon || text.charAt(colon - 1) == ']');
        String host = hasPort ? text.substring(0, colon) : text;
        if (host.startsWith("[") && host.endsWith("]")) {
            host = host.substring(1, host.length() - 1);
        }
        builder.destination(address(host));
        if (hasPort) {
            builder.destinationPort(Rates.parsePort(text.substring(colon + 1)));
        }
    }

    private static InetAddress address(String host) {
        try {
            return InetAddress.getByName(host);
        } catch (UnknownHostException e) {
            throw new IllegalArgumentException("unknown host '" + host + "': check the name", e);
        }
    }
}
