package org.tamanoir.services.extra.crypt;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import javax.crypto.Cipher;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.Packet;
import org.tamanoir.service.ChangesSize;
import org.tamanoir.service.ControlledBy;
import org.tamanoir.service.Counter;
import org.tamanoir.service.Service;
import org.tamanoir.service.ServiceConfig;
import org.tamanoir.service.Setting;
import org.tamanoir.service.Settings;
import org.tamanoir.service.SizeEffect;
import org.tamanoir.service.Verdict;
import org.tamanoir.services.NextService;

/**
 * Decrypts what {@link Crypt} has encrypted, and lets nothing else pass: packets that were altered, or come a second
 * time, on whatever connection, are dropped.
 *
 * <p>Which packets have come is remembered as long as the service is defined, with whatever settings. After a restart of the node, or of another
 * version, it is not known, and packets that are younger than {@code max-age-ms} could be brought once more. The clocks of
 * both nodes must agree by that.
 *
 * <p>Counters: {@code packets}, {@code bytes} (of payloads that were decrypted). Drops: {@code not encrypted}, {@code
 * unknown key}, {@code altered}, {@code replayed} (or further behind its session's newest than 1,024 packets), {@code sent
 * too long ago, or clocks differ}.
 */
@Settings(
        of = NextService.class,
        value = {
            @Setting(name = "keys", text = "name of a file of keys; operators can also give them by the admin API"),
            @Setting(
                    name = "max-age-ms",
                    kind = Setting.Kind.NUMBER,
                    standard = "60000",
                    min = 1_000,
                    max = 86_400_000,
                    text = "the most that the time of sending may lie behind or ahead")
        })
@ChangesSize(SizeEffect.SHRINKS)
@ControlledBy(CryptControl.class)
public final class Decrypt extends Service {
    private static final int MAX_SESSIONS = 64;

    private final byte[] authenticated = new byte[CryptHeader.AUTHENTICATED_BYTES];
    private final ByteBuffer authenticatedView = ByteBuffer.wrap(authenticated);
    private final byte[] salt = new byte[CryptHeader.SALT_BYTES];

    /** Keys and ciphers that were made before, so that they are not for each packet. */
    private final Map<ReplayWindows.Id, Session> sessions = new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<ReplayWindows.Id, Session> eldest) {
            return size() > MAX_SESSIONS;
        }
    };

    private NextService next = new NextService(0);
    private long maxAgeMs;
    private @Nullable CryptControl control;
    private Keys keys = Keys.NONE;
    private ReplayWindows.Id lastId = new ReplayWindows.Id(0, 0, 0);
    private @Nullable Session last;
    private Counter packets = new Counter("packets");
    private Counter bytes = new Counter("bytes");

    @Override
    public void init(ServiceConfig config) {
        config.allow("keys", "max-age-ms", "next");
        maxAgeMs = config.millis("max-age-ms", Duration.ofMinutes(1), Duration.ofSeconds(1), Duration.ofDays(1))
                .toMillis();
        next = NextService.of(config);
        control = control(CryptControl.class);
        packets = counter("packets");
        bytes = counter("bytes");
    }

    @Override
    public Verdict process(Packet packet) {
        ByteBuffer payload = packet.payload();
        if (!CryptHeader.isOf(payload)) {
            return drop("not encrypted");
        }
        CryptControl there = control;
        if (there == null || !find(there, payload)) {
            return drop("unknown key");
        }
        payload.get(payload.position(), authenticated, 0, CryptHeader.BYTES);
        CryptHeader.writeEnds(authenticatedView, packet);
        long sequence = authenticatedView.getLong(CryptHeader.SEQUENCE_AT);
        long sentMs = authenticatedView.getLong(CryptHeader.TIME_AT);
        payload.position(payload.position() + CryptHeader.BYTES);
        int plainBytes = payload.remaining() - CryptHeader.TAG_BYTES;
        ByteBuffer room = packet.newPayload(plainBytes);
        Session session = last;
        if (session == null || session.run(Cipher.DECRYPT_MODE, sequence, authenticated, payload, room) != plainBytes) {
            return drop("altered");
        }
        // Before this point nothing is remembered that a stranger could have made.
        sessions.putIfAbsent(lastId, session);
        long ageMs = there.timeMs() - sentMs;
        if (ageMs > maxAgeMs || ageMs < -maxAgeMs) {
            return drop("sent too long ago, or clocks differ");
        }
        if (!there.windows().take(lastId, sequence, sentMs)) {
            return drop("replayed");
        }
        packet.commitPayload(plainBytes);
        next.name(packet);
        packets.add(1);
        bytes.add(plainBytes);
        return Verdict.FORWARD;
    }

    /** Has {@link #last} be the packet's session. Returns false without its key. */
    private boolean find(CryptControl there, ByteBuffer payload) {
        if (there.keys() != keys) {
            keys = there.keys();
            sessions.clear();
            last = null;
        }
        int keyId = CryptHeader.keyId(payload);
        int at = payload.position() + CryptHeader.SALT_AT;
        long high = payload.getLong(at);
        int low = payload.getInt(at + Long.BYTES);
        if (last != null && lastId.key() == keyId && lastId.high() == high && lastId.low() == low) {
            return true;
        }
        byte[] key = keys.key(keyId);
        if (key == null) {
            return false;
        }
        lastId = new ReplayWindows.Id(keyId, high, low);
        last = sessions.get(lastId);
        if (last == null) {
            payload.get(at, salt);
            last = Session.of(key, salt);
        }
        return true;
    }
}
