package org.tamanoir.auth;

import java.net.InetAddress;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Option;
import org.tamanoir.anep.Packet;
import org.tamanoir.routing.Addresses;

/**
 * Tells an operator of packets that were refused: of each reason one line a second at most, with how many there were
 * since the one before. Strangers cause them as fast as they can send.
 *
 * <p>Thread contract: any thread.
 */
final class Refusals {
    private static final Logger LOG = LoggerFactory.getLogger(Authentication.class);
    private static final long INTERVAL_NS = 1_000_000_000;

    private static final Map<DropReason, String> TEXTS = new EnumMap<>(Map.of(
            DropReason.AUTH_MISSING, "it has no MAC; have its sender, or the node before, sign it",
            DropReason.AUTH_ALGORITHM, "its algorithm is unknown: 1, HMAC-SHA-256, is the only one",
            DropReason.AUTH_KEY, "its key is not here; add it, or take it from who signs with it",
            DropReason.AUTH_MAC, "its MAC does not hold: it was altered, or signed with another secret",
            DropReason.AUTH_SEQUENCE, "it has no stream and number, by which replays are told",
            DropReason.AUTH_REPLAY, "its number has come already, or is too far behind its stream's highest"));

    private final LongSupplier nanoTime;
    private final Map<DropReason, Kind> kinds = new EnumMap<>(DropReason.class);
    private volatile Consumer<String> listener = line -> {};

    private static final class Kind {
        final AtomicLong untold = new AtomicLong();
        final AtomicLong nextNs = new AtomicLong();

        Kind(long nowNs) {
            nextNs.set(nowNs);
        }
    }

    Refusals(LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
        TEXTS.keySet().forEach(reason -> kinds.put(reason, new Kind(nanoTime.getAsLong())));
    }

    void to(Consumer<String> told) {
        listener = told;
    }

    void tell(DropReason reason, Packet packet) {
        Kind kind = kinds.get(reason);
        if (kind == null) {
            return;
        }
        kind.untold.incrementAndGet();
        long nowNs = nanoTime.getAsLong();
        long nextNs = kind.nextNs.get();
        if (nowNs - nextNs < 0 || !kind.nextNs.compareAndSet(nextNs, nowNs + INTERVAL_NS)) {
            return;
        }
        long others = kind.untold.getAndSet(0) - 1;
        String line = reason + ": packet from " + text(packet.source()) + " to " + text(packet.destination())
                + key(packet)
                + (packet.has(Option.STREAM)
                        ? ", stream " + Integer.toUnsignedString(packet.streamId()) + ", number " + packet.sequence()
                        : "")
                + ": " + TEXTS.get(reason) + (others > 0 ? "; " + others + " more since the last such line" : "");
        LOG.warn("authentication: {}", line);
        listener.accept(line);
    }

    private static String text(@Nullable InetAddress address) {
        return address == null ? "no address" : Addresses.host(address);
    }

    private static String key(Packet packet) {
        return packet.isTamanoir() && packet.has(Option.AUTHENTICATION)
                ? ", key " + AuthKey.text(packet.buffer().getInt(packet.optionOffset(Option.AUTHENTICATION)))
                : "";
    }
}
