package org.tamanoir.node.load;

import java.net.Inet6Address;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.auth.AuthKey;
import org.tamanoir.node.config.Converters;
import org.tamanoir.node.config.Endpoint;
import org.tamanoir.node.config.KeyFile;
import org.tamanoir.node.config.NodeConfigBuilder;
import picocli.CommandLine.Option;

/** What stands in each packet that {@code send} makes. Thread contract: filled in by picocli, then only read. */
final class SendOptions {
    @Option(names = "--destination", paramLabel = "ADDR[:PORT]")
    @Nullable
    String destination;

    @Option(names = "--source", paramLabel = "ADDR")
    @Nullable
    String source;

    @Option(names = "--service", paramLabel = "NAME")
    @Nullable
    String service;

    @Option(names = "--no-previous-node")
    boolean noPreviousNode;

    @Option(names = "--class", paramLabel = "0-255")
    @Nullable
    Integer classOfService;

    @Option(names = "--drop-precedence", paramLabel = "0-255")
    int dropPrecedence;

    @Option(names = "--hop-budget", paramLabel = "HOPS", defaultValue = "32")
    int hopBudget;

    @Option(names = "--checksum")
    boolean checksum;

    @Option(names = "--timestamps")
    boolean timestamps;

    @Option(names = "--auth-key", paramLabel = "FILE", converter = Converters.Keys.class)
    @Nullable
    KeyFile keys;

    @Option(names = "--type-id", paramLabel = "ID", defaultValue = "0x544D", converter = Converters.TypeId.class)
    int typeId;

    @Option(names = "--sapf")
    boolean sapf;

    @Option(names = "--stream-id", paramLabel = "ID")
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
            builder.service(NodeConfigBuilder.serviceName(service));
            if (!noPreviousNode) {
                builder.previousNode(isIpv6());
            }
        }
        if (classOfService != null || dropPrecedence != 0) {
            builder.classOfService(classOfService == null ? 0 : classOfService, dropPrecedence);
        }
        if (!sapf) {
            builder.stream(stream);
        }
        builder.hopBudget(hopBudget);
        if (timestamps) {
            builder.timestamps();
        }
        if (keys != null) {
            builder.authentication();
        }
        return checksum ? builder.checksum() : builder;
    }

    /** Returns the key that signs, the first of its file; null when none does. */
    @Nullable
    AuthKey key() {
        return keys == null ? null : keys.keys().get(0);
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
