package org.tamanoir.services;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.Option;
import org.tamanoir.anep.Packet;
import org.tamanoir.nodeos.Rule;

/**
 * One rule of {@link Filter}: what to do with packets that meet its condition. One class with a switch, so that the
 * compiler can inline every rule. Matching allocates nothing and writes nothing.
 *
 * <p>Thread contract: immutable.
 */
final class FilterRule {
    /** What a rule looks at. */
    enum Subject {
        ALL,
        SOURCE,
        DESTINATION,
        CLASS,
        STREAM,
        SIZE,
        PAYLOAD_CONTAINS
    }

    /** How sizes are compared. */
    enum Comparison {
        EQUAL,
        BELOW,
        ABOVE
    }

    private final boolean drop;
    private final String dropReason;
    private final Subject subject;
    private final Comparison comparison;
    private final int number;
    private final @Nullable AddressPrefix prefix;
    private final byte[] pattern;

    private FilterRule(
            boolean drop,
            String dropReason,
            Subject subject,
            Comparison comparison,
            int number,
            @Nullable AddressPrefix prefix,
            byte[] pattern) {
        this.drop = drop;
        this.dropReason = dropReason;
        this.subject = subject;
        this.comparison = comparison;
        this.number = number;
        this.prefix = prefix;
        this.pattern = pattern;
    }

    static FilterRule all(boolean drop, String reason) {
        return new FilterRule(drop, reason, Subject.ALL, Comparison.EQUAL, 0, null, new byte[0]);
    }

    static FilterRule address(boolean drop, String reason, Subject subject, AddressPrefix prefix) {
        return new FilterRule(drop, reason, subject, Comparison.EQUAL, 0, prefix, new byte[0]);
    }

    static FilterRule number(boolean drop, String reason, Subject subject, Comparison comparison, int number) {
        return new FilterRule(drop, reason, subject, comparison, number, null, new byte[0]);
    }

    /** @param pattern at least one octet */
    static FilterRule payload(boolean drop, String reason, byte[] pattern) {
        return new FilterRule(drop, reason, Subject.PAYLOAD_CONTAINS, Comparison.EQUAL, 0, null, pattern);
    }

    /** Whether packets that match end here. */
    boolean drops() {
        return drop;
    }

    /** Why: the same text for every packet. */
    String dropReason() {
        return dropReason;
    }

    /** The same for a level below; null when that cannot be, since levels read headers alone. */
    @Nullable
    Rule below() {
        Rule.Comparison how = switch (comparison) {
            case EQUAL -> Rule.Comparison.EQUAL;
            case BELOW -> Rule.Comparison.BELOW;
            case ABOVE -> Rule.Comparison.ABOVE;
        };
        long unsigned = number & 0xFFFF_FFFFL;
        return switch (subject) {
            case ALL -> Rule.all(drop);
            case SOURCE -> prefix == null ? null : prefix.rule(drop, Rule.Subject.SOURCE);
            case DESTINATION -> prefix == null ? null : prefix.rule(drop, Rule.Subject.DESTINATION);
            case CLASS -> Rule.number(drop, Rule.Subject.CLASS, how, unsigned);
            case STREAM -> Rule.number(drop, Rule.Subject.STREAM, how, unsigned);
            case SIZE -> Rule.number(drop, Rule.Subject.SIZE, how, unsigned);
            case PAYLOAD_CONTAINS -> null;
        };
    }

    boolean matches(Packet packet) {
        return switch (subject) {
            case ALL -> true;
            case SOURCE -> prefix != null && prefix.matches(packet, Option.SOURCE);
            case DESTINATION -> prefix != null && prefix.matches(packet, Option.DESTINATION);
            case CLASS -> packet.classOfService() == number;
            case STREAM -> packet.has(Option.STREAM) && packet.streamId() == number;
            case SIZE -> compares(packet.length());
            case PAYLOAD_CONTAINS -> contains(packet);
        };
    }

    private boolean compares(int octets) {
        return switch (comparison) {
            case EQUAL -> octets == number;
            case BELOW -> octets < number;
            case ABOVE -> octets > number;
        };
    }

    private boolean contains(Packet packet) {
        // Reads the buffer itself: asking for the payload would have its checksum computed anew.
        ByteBuffer buffer = packet.buffer();
        byte first = pattern[0];
        int start = packet.payloadOffset();
        int last = start + packet.payloadLength() - pattern.length;
        for (int at = start; at <= last; at++) {
            if (buffer.get(at) == first && continues(buffer, at)) {
                return true;
            }
        }
        return false;
    }

    private boolean continues(ByteBuffer buffer, int at) {
        for (int i = 1; i < pattern.length; i++) {
            if (buffer.get(at + i) != pattern[i]) {
                return false;
            }
        }
        return true;
    }
}
