package org.tamanoir.services.extra.crypt;

import java.nio.ByteBuffer;
import java.security.SecureRandom;
import java.util.Arrays;
import javax.crypto.Cipher;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.Anep;
import org.tamanoir.anep.Packet;
import org.tamanoir.service.ChangesSize;
import org.tamanoir.service.ControlledBy;
import org.tamanoir.service.Counter;
import org.tamanoir.service.Service;
import org.tamanoir.service.ServiceConfig;
import org.tamanoir.service.Setting;
import org.tamanoir.service.SizeEffect;
import org.tamanoir.service.StreamInfo.Transport;
import org.tamanoir.service.Verdict;
import org.tamanoir.services.NextService;

/**
 * Encrypts payloads by AES-GCM for {@link Decrypt} on a node further on ({@link CryptHeader}); headers stay as they are,
 * since nodes go by them. Each packet stands alone and grows by 52 bytes. Without a key packets are dropped, never sent
 * in the clear.
 *
 * <p>Counters: {@code packets}, {@code bytes} (of payloads that were encrypted), {@code sessions}. Drops: {@code no key in
 * use}, {@code header leaves no room for encryption}.
 */
@Setting(name = "keys", text = "name of a file of keys; operators can also give them by the admin API")
@Setting(
        name = "next",
        standard = "org.tamanoir.services.extra.crypt.Decrypt",
        text = "name of the service that the next node shall run; none: the packet names no service from here on")
@ChangesSize(SizeEffect.GROWS)
@ControlledBy(CryptControl.class)
public final class Crypt extends Service {
    /** After so many packets a session ends: far below what AES-GCM can take with one key. */
    private static final long SESSION_PACKETS = 1L << 32;

    private static final SecureRandom RANDOM = new SecureRandom();

    private final byte[] salt = new byte[CryptHeader.SALT_BYTES];
    private final byte[] authenticated = new byte[CryptHeader.AUTHENTICATED_BYTES];
    private final ByteBuffer authenticatedView = ByteBuffer.wrap(authenticated);
    private NextService next = new NextService(0);
    private int maxPacketBytes;
    private @Nullable CryptControl control;
    private Keys keys = Keys.NONE;
    private @Nullable Session session;
    /** What it is derived from. */
    private byte @Nullable [] sessionKey;

    private long sequence;
    private Counter packets = new Counter("packets");
    private Counter bytes = new Counter("bytes");
    private Counter sessions = new Counter("sessions");

    @Override
    public void init(ServiceConfig config) {
        config.allow("keys", "next");
        next = NextService.of(config, "next", "org.tamanoir.services.extra.crypt.Decrypt");
        maxPacketBytes = stream().transport() == Transport.UDP ? Anep.MAX_DATAGRAM_OCTETS : Anep.MAX_PACKET_OCTETS;
        control = control(CryptControl.class);
        packets = counter("packets");
        bytes = counter("bytes");
        sessions = counter("sessions");
    }

    @Override
    public Verdict process(Packet packet) {
        CryptControl there = control;
        Session mine = there == null ? null : session(there);
        if (there == null || mine == null) {
            return drop("no key in use");
        }
        int payloadBytes = packet.payloadLength();
        int grown = CryptHeader.BYTES + payloadBytes + CryptHeader.TAG_BYTES;
        if (packet.headerLength() + next.extraBytes(packet) + grown > maxPacketBytes) {
            return drop("header leaves no room for encryption");
        }
        CryptHeader.write(authenticatedView, keys.used(), salt, there.timeMs(), sequence);
        CryptHeader.writeEnds(authenticatedView, packet);
        ByteBuffer payload = packet.payload();
        ByteBuffer room = packet.newPayload(grown);
        room.put(authenticated, 0, CryptHeader.BYTES);
        mine.run(Cipher.ENCRYPT_MODE, sequence, authenticated, payload, room);
        sequence++;
        packet.commitPayload(grown);
        next.name(packet);
        packets.add(1);
        bytes.add(payloadBytes);
        return Verdict.FORWARD;
    }

    /** Returns the session, a new one with another key and after very many packets; null without a key. */
    private @Nullable Session session(CryptControl there) {
        Keys now = there.keys();
        if (now != keys || sequence == SESSION_PACKETS) {
            byte[] key = now.key(now.used());
            // An id may have been given to another key since.
            if (key == null
                    || now.used() != keys.used()
                    || !Arrays.equals(key, sessionKey)
                    || sequence == SESSION_PACKETS) {
                RANDOM.nextBytes(salt);
                sequence = 0;
                session = key == null ? null : Session.of(key, salt);
                sessionKey = key;
                sessions.add(key == null ? 0 : 1);
            }
            keys = now;
        }
        return session;
    }
}
