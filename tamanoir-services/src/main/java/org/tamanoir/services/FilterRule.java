package org.tamanoir.services;

import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.Option;
import org.tamanoir.anep.Packet;
import org.tamanoir.nodeos.Rule;
import org.tamanoir.service.Verdict;

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

    /** What becomes of packets that match: FORWARD, DROP, CLOSE or RESET. */
    private final Verdict verdict;

    private final String dropReason;
    private final Subject subject;
    private final Comparison comparison;
    private final int number;
    private final @Nullable AddressPrefix prefix;
    private final byte[] pattern;

    private FilterRule(
            Verdict verdict,
            String dropReason,
            Subject subject,
            Comparison comparison,
            int number,
            @Nullable AddressPrefix prefix,
            byte[] pattern) {
        this.verdict = verdict;
        this.dropReason = dropReason;
        this.subject = subject;
        this.comparison = comparison;
        this.number = number;
        this.prefix = prefix;
        this.pattern = pattern;
    }

    static FilterRule all(Verdict verdict, String reason) {
        return new FilterRule(verdict, reason, Subject.ALL, Comparison.EQUAL, 0, null, new byte[0]);
    }

    static FilterRule address(Verdict verdict, String reason, Subject subject, AddressPrefix prefix) {
        return new FilterRule(verdict, reason, subject, Comparison.EQUAL, 0, prefix, new byte[0]);
    }

    static FilterRule number(Verdict verdict, String reason, Subject subject, Comparison comparison, int number) {
        return new FilterRule(verdict, reason, subject, comparison, number, null, new byte[0]);
    }

    /** @param pattern at least one byte */
    static FilterRule payload(Verdict verdict, String reason, byte[] pattern) {
        return new FilterRule(verdict, reason, Subject.PAYLOAD_CONTAINS, Comparison.EQUAL, 0, null, pattern);
    }

    /** Returns what becomes of packets that match. */
    Verdict verdict() {
        return verdict;
    }

    /** Returns whether packets that match end here. */
    boolean drops() {
        return verdict.endsPacket();
    }

    /** Returns why: the same text for every packet. */
    String dropReason() {
        return dropReason;
    }

    /**
     * Returns the same for a level below, which handles UDP, where no stream ends; null when that cannot be, since levels
     * read headers alone.
     */
    @Nullable
    Rule below() {
        boolean drop = drops();
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

    private boolean compares(int bytes) {
        return switch (comparison) {
            case EQUAL -> bytes == number;
            case BELOW -> bytes < number;
            case ABOVE -> bytes > number;
        };
    }

    private boolean contains(Packet packet) {
        // Byte by byte: asking for the payload would copy it.
        int first = pattern[0] & 0xFF;
        int last = packet.payloadLength() - pattern.length;
        for (int at = 0; at <= last; at++) {
            if (packet.payloadOctet(at) == first && continues(packet, at)) {
                return true;
            }
        }
        return false;
    }

    private boolean continues(Packet packet, int at) {
        for (int i = 1; i < pattern.length; i++) {
            if (packet.payloadOctet(at + i) != (pattern[i] & 0xFF)) {
                return false;
            }
        }
        return true;
    }
}
