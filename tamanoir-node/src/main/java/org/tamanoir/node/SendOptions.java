package org.tamanoir.node;

import java.net.Inet6Address;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.PacketBuilder;
import picocli.CommandLine.Option;

/** What stands in each packet that {@code send} makes. Thread contract: filled in by picocli, then only read. */
final class SendOptions {
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

    @Option(
            names = "--no-previous-node",
            description = "packets for a service do not carry the option that tells nodes where to fetch its code from")
    boolean noPreviousNode;

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
            converter = Converters.TypeId.class,
            description = "the execution environment that the packets are for (default: ${DEFAULT-VALUE})")
    int typeId;

    @Option(names = "--stream-id", paramLabel = "ID", description = "id of the first stream (default: a random one)")
    @Nullable
    Integer streamId;

    /** @throws IllegalArgumentException in one line, for a value that no packet can carry */
    PacketBuilder newBuilder(int stream) {
        PacketBuilder builder = new PacketBuilder().typeId(typeId);
        if (source != null) {
            builder.source(new Endpoint(source, 0).address());
        }
        if (destination != null) {
            addDestination(builder, destination);
        }
        if (service != null) {
            builder.service(Settings.serviceName(service));
            if (!noPreviousNode) {
                builder.previousNode(isIpv6());
            }
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

    /** Nodes on the way to an IPv6 destination have addresses of that size. */
    private boolean isIpv6() {
        return destination != null && Endpoint.parse(destination, 1).address() instanceof Inet6Address;
    }

    private static void addDestination(PacketBuilder builder, String text) {
        Endpoint endpoint = Endpoint.parse(text, 1);
        builder.destination(endpoint.address());
        if (endpoint.port() != Endpoint.NO_PORT) {
            builder.destinationPort(endpoint.port());
        }
    }
}
