package org.tamanoir.message;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.tamanoir.service.ServiceConfig;
import org.tamanoir.service.Setting;
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
@Setting(
        name = "other",
        kind = Setting.Kind.CHOICE,
        standard = "pass",
        choices = {"pass", "drop"},
        text = "for packets that are no messages, and messages whose format the handler does not take")
@Setting(
        name = "strays",
        kind = Setting.Kind.CHOICE,
        standard = "drop",
        choices = {"pass", "drop"},
        text = "for packets with the numbers of a stream that no beginning of a message stands before")
@Setting(
        name = "failure",
        kind = Setting.Kind.CHOICE,
        standard = "drop",
        choices = {"pass", "drop"},
        text = "for messages whose format nobody has, and those at which the handler throws")
@Setting(
        name = "message-bytes",
        kind = Setting.Kind.NUMBER,
        standard = "1048576",
        min = 64,
        max = 64 << 20,
        text = "of a record, header included")
@Setting(
        name = "packet-bytes",
        kind = Setting.Kind.NUMBER,
        standard = "0",
        min = 0,
        max = 65_535,
        text = "of packets that are made, header included; 0 = what the transport takes")
@Setting(
        name = "reassembly-bytes",
        kind = Setting.Kind.NUMBER,
        standard = "8388608",
        min = 4_096,
        max = 1 << 30,
        text = "of messages that are being put together, and of packets that came before their beginning")
@Setting(
        name = "reassembly-messages",
        kind = Setting.Kind.NUMBER,
        standard = "256",
        min = 1,
        max = 4_096,
        text = "that are being put together")
@Setting(
        name = "reassembly-time",
        kind = Setting.Kind.NUMBER,
        standard = "2000",
        min = 1,
        max = 300_000,
        text = "ms in which all packets of a message have to come")
@Setting(
        name = "hold-bytes",
        kind = Setting.Kind.NUMBER,
        standard = "4194304",
        min = 0,
        max = 1 << 30,
        text = "of packets that wait for formats")
@Setting(
        name = "hold-packets",
        kind = Setting.Kind.NUMBER,
        standard = "4096",
        min = 0,
        max = 1 << 20,
        text = "that wait for formats")
@Setting(
        name = "hold-formats",
        kind = Setting.Kind.NUMBER,
        standard = "64",
        min = 0,
        max = 4_096,
        text = "that are being asked for")
@Setting(
        name = "hold-time",
        kind = Setting.Kind.NUMBER,
        standard = "10000",
        min = 1,
        max = 300_000,
        text = "ms that a packet waits for a format")
@Setting(
        name = "introduced-formats",
        kind = Setting.Kind.NUMBER,
        standard = "64",
        min = 0,
        max = 65_536,
        text = "that packets of one source may introduce")
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
