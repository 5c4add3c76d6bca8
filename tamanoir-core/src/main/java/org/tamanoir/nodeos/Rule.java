package org.tamanoir.nodeos;

import java.net.InetAddress;
import org.jspecify.annotations.Nullable;

/**
 * A filter rule. The first that a packet meets decides; one that lacks the option a rule looks at does not meet it.
 *
 * @param drops whether packets that meet it end
 * @param subject what is looked at
 * @param comparison for class, stream and size; {@link Comparison#EQUAL} else
 * @param number compared with: class 0 to 255, stream 0 to 2^32 - 1, size in bytes of the whole packet 0 to 65535
 * @param address of a prefix, for source and destination identifiers; else null
 * @param prefixBits of that address that count: 0 to 32, IPv6 128
 */
public record Rule(
        boolean drops,
        Subject subject,
        Comparison comparison,
        long number,
        @Nullable InetAddress address,
        int prefixBits) {
    /** What a rule looks at. */
    public enum Subject {
        ALL,
        SOURCE,
        DESTINATION,
        CLASS,
        STREAM,
        SIZE
    }

    /** How the number is compared: the packet's is equal to, below or above the rule's. */
    public enum Comparison {
        EQUAL,
        BELOW,
        ABOVE
    }

    /** Checks what belongs together. */
    public Rule {
        boolean isPrefix = subject == Subject.SOURCE || subject == Subject.DESTINATION;
        if (isPrefix != (address != null)) {
            throw new IllegalArgumentException("rule on " + subject + (isPrefix ? ": needs an address" : ": has none"));
        }
        if (number < 0 || number > 0xFFFF_FFFFL) {
            throw new IllegalArgumentException("rule on " + subject + " " + number + ": must be 0 to 4294967295");
        }
        int longest = address == null ? 0 : 8 * address.getAddress().length;
        if (prefixBits < 0 || prefixBits > longest) {
            throw new IllegalArgumentException("prefix of " + prefixBits + " bits: must be 0 to " + longest);
        }
    }

    /** Returns a rule for all packets. */
    public static Rule all(boolean drops) {
        return new Rule(drops, Subject.ALL, Comparison.EQUAL, 0, null, 0);
    }

    /** Packets whose source or destination identifier lies in a prefix. */
    public static Rule prefix(boolean drops, Subject subject, InetAddress address, int prefixBits) {
        return new Rule(drops, subject, Comparison.EQUAL, 0, address, prefixBits);
    }

    /** Packets whose class, stream or size compares so with a number. */
    public static Rule number(boolean drops, Subject subject, Comparison comparison, long number) {
        return new Rule(drops, subject, comparison, number, null, 0);
    }
}
