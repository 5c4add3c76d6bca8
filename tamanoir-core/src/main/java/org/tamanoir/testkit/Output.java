package org.tamanoir.testkit;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.Packet;
import org.tamanoir.service.Verdict;

/**
 * A packet that a service let out.
 *
 * @param verdict {@code FORWARD}, {@code FORWARD_ELSEWHERE} or {@code REPLY}; {@code FORWARD} for emitted packets
 * @param emitted whether the service sent it of its own, with {@code emit}
 * @param elsewhere where {@code forwardTo} or {@code emitTo} sends it; null with others
 * @param packet a copy as it leaves: checksum brought up to date, ends of a reply swapped
 */
public record Output(
        Verdict verdict, boolean emitted, @Nullable InetSocketAddress elsewhere, Packet packet) {

    /** A copy of the packet's payload. */
    public byte[] payload() {
        ByteBuffer view = packet.payload();
        byte[] bytes = new byte[view.remaining()];
        view.get(bytes);
        return bytes;
    }

    /** The packet's payload read as UTF-8. */
    public String text() {
        return new String(payload(), StandardCharsets.UTF_8);
    }
}
