package org.tamanoir.message;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.tamanoir.service.ServiceConfig;
import org.tamanoir.service.StreamInfo.Transport;

/**
 * The settings that all message services have. Times are in ms in the configuration.
 *
 * @param other what becomes of packets that are no messages, and of messages whose format the handler does not take
 * @param strays what becomes of packets with a stream's numbers that no beginning of a message stands before: a part of one
 *     would pass all handlers
 * @param failure what becomes of messages whose format nobody has, and of those at which the handler throws
 * @param messageBytes of a record, header included
 * @param packetBytes of packets that are made here, header included; 0: what the transport takes that packets come by
 * @param reassemblyBytes of messages that are being put together, and of packets that came before their beginning
 * @param reassemblyMessages that are being put together; four times as many packets may wait for their beginning
 * @param reassemblyNs after its first packet, in which all packets of a message have to come
 * @param holdBytes of packets that wait for formats
 * @param holdPackets that wait for formats
 * @param holdFormats that are being asked for
 * @param holdNs that a packet waits for a format
 * @param introduced formats that packets of one source may introduce
 */
record MessageSettings(
        Policy other,
        Policy strays,
        Policy failure,
        int messageBytes,
        int packetBytes,
        int reassemblyBytes,
        int reassemblyMessages,
        long reassemblyNs,
        int holdBytes,
        int holdPackets,
        int holdFormats,
        long holdNs,
        int introduced) {
    /** What becomes of what cannot be handled. */
    enum Policy {
        PASS,
        DROP
    }

    private static final List<String> NAMES = List.of(
            "other",
            "strays",
            "failure",
            "message-bytes",
            "packet-bytes",
            "reassembly-bytes",
            "reassembly-messages",
            "reassembly-time",
            "hold-bytes",
            "hold-packets",
            "hold-formats",
            "hold-time",
            "introduced-formats");

    private static final int MI = 1 << 20;
    private static final Duration LEAST = Duration.ofMillis(1);
    private static final Duration MOST = Duration.ofMinutes(5);

    static MessageSettings of(ServiceConfig config) {
        return new MessageSettings(
                config.choice("other", Policy.PASS),
                config.choice("strays", Policy.DROP),
                config.choice("failure", Policy.DROP),
                (int) config.number("message-bytes", MI, 64, 64 * MI),
                (int) config.number("packet-bytes", 0, 0, 65_535),
                (int) config.number("reassembly-bytes", 8 * MI, 4_096, 1 << 30),
                (int) config.number("reassembly-messages", 256, 1, 4_096),
                config.millis("reassembly-time", Duration.ofSeconds(2), LEAST, MOST)
                        .toNanos(),
                (int) config.number("hold-bytes", 4 * MI, 0, 1 << 30),
                (int) config.number("hold-packets", 4_096, 0, 1 << 20),
                (int) config.number("hold-formats", 64, 0, 4_096),
                config.millis("hold-time", Duration.ofSeconds(10), LEAST, MOST).toNanos(),
                (int) config.number("introduced-formats", 64, 0, 65_536));
    }

    /** Returns the largest packet to make for a transport. */
    int packetBytes(Transport transport) {
        return packetBytes > 0 ? Math.max(packetBytes, 256) : transport == Transport.TCP ? 65_535 : 65_507;
    }

    /** Returns the names of these settings and of others. */
    static String[] names(String... others) {
        List<String> all = new ArrayList<>(NAMES);
        all.addAll(List.of(others));
        return all.toArray(String[]::new);
    }
}
