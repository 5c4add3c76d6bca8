package org.tamanoir.catalog;

import java.util.Map;
import org.tamanoir.service.Amplifier;
import org.tamanoir.service.Service;

/**
 * Bounds of what one datagram may cause. Its source can be forged, and its sender names where packets go, so a node
 * must not be a lever.
 *
 * @param growth bytes that may go onward for each byte of the datagram
 * @param bytes that may go onward for one datagram, whatever its length
 * @param answerGrowth bytes that may go back to where it says it came from, for each of its own, at most
 *     {@value #ANSWER_BYTES} in all; 3 is the bound of QUIC towards addresses that are not validated (RFC 9000,
 *     section 8.1)
 * @param amplifiers services with a growth of their own, by name; {@link Amplifier}s are offered on UDP only if they are
 *     among them
 */
public record UdpBounds(int growth, int bytes, int answerGrowth, Map<String, Integer> amplifiers) {
    /** The defaults: room for a duplicator, or a code that adds as much redundancy as there is data, and its headers. */
    public static final UdpBounds DEFAULT = new UdpBounds(4, 256 << 10, 3, Map.of());

    /** deflate reaches 1032. */
    public static final int MAX_GROWTH = 65_536;

    public static final int MIN_BYTES = 64 << 10;
    public static final int MAX_BYTES = 1 << 30;
    /** One datagram's worth. */
    public static final int ANSWER_BYTES = 64 << 10;

    /** Checks the bounds. */
    public UdpBounds {
        amplifiers = Map.copyOf(amplifiers);
        requireInside("growth over UDP", growth, 1, MAX_GROWTH);
        requireInside("bytes for one datagram", bytes, MIN_BYTES, MAX_BYTES);
        requireInside("growth of answers over UDP", answerGrowth, 1, MAX_GROWTH);
        amplifiers.forEach((name, own) -> requireInside("growth of " + name + " over UDP", own, 1, MAX_GROWTH));
    }

    private static void requireInside(String what, int value, int min, int max) {
        if (value < min || value > max) {
            throw new IllegalArgumentException(what + " " + value + ": must be " + min + " to " + max);
        }
    }

    /** Returns the growth that this service may have. */
    public int growthOf(ServiceDefinition definition) {
        return amplifiers.getOrDefault(definition.name(), growth);
    }

    /** Returns whether instances of this service may handle datagrams. */
    public boolean offers(ServiceDefinition definition, Service instance) {
        return !(instance instanceof Amplifier) || amplifiers.containsKey(definition.name());
    }
}
