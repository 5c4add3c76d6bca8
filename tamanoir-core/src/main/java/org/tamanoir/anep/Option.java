package org.tamanoir.anep;

/**
 * The options that a packet view finds. Public ones belong to ANEP, private ones (0x8000) count only under
 * Tamanoir's Type ID.
 */
public enum Option {
    /** Public 1: source identifier. */
    SOURCE(1, 0),
    /** Public 2: destination identifier. */
    DESTINATION(2, 0),
    /** Public 3: 16-bit checksum over the whole packet, 16 zero bits. */
    CHECKSUM(3, 2),
    /** Public 4: non-negotiated authentication, carried through untouched. */
    PUBLIC_AUTHENTICATION(4, 0),
    /** Private 1: first 64 bits of SHA-256 over the service name. */
    SERVICE_KEY(Anep.OPTION_PRIVATE | 1, 3),
    /** Private 2: class (1), drop precedence (1), zero (2). */
    CLASS_OF_SERVICE(Anep.OPTION_PRIVATE | 2, 2),
    /** Private 3: scheme (4), address (4 or 16), port of the code server (2), zero (2). */
    PREVIOUS_NODE(Anep.OPTION_PRIVATE | 3, 0),
    /** Private 4: stream id (4), sequence number (8). */
    STREAM(Anep.OPTION_PRIVATE | 4, 4),
    /** Private 5: round (8), path (2), flags (1), zero (1). */
    ROUND(Anep.OPTION_PRIVATE | 5, 4, true),
    /** Private 6: 12 octets of format identifier. */
    FORMAT(Anep.OPTION_PRIVATE | 6, 4),
    /** Private 7: active hops left (2), zero (2); 0 = to be filled in by the first node. */
    HOP_BUDGET(Anep.OPTION_PRIVATE | 7, 2),
    /** Private 8: origin time in ns (8), egress stamp (8). */
    TIMESTAMPS(Anep.OPTION_PRIVATE | 8, 5),
    /** Private 9: key id (4), algorithm (4), HMAC-SHA-256 (32). */
    AUTHENTICATION(Anep.OPTION_PRIVATE | 9, 11, true),
    /** Private 10: transport port at the destination identifier (2), zero (2). */
    DESTINATION_PORT(Anep.OPTION_PRIVATE | 10, 2);

    private static final int PUBLIC_OPTIONS = 4;
    private static final int SLOTS = values().length + 1;

    private final int type;
    private final int words;
    private final boolean discardIfUnknown;

    Option(int type, int words) {
        this(type, words, false);
    }

    Option(int type, int words, boolean discardIfUnknown) {
        this.type = type;
        this.words = words;
        this.discardIfUnknown = discardIfUnknown;
    }

    /** Whether the type counts only under Tamanoir's Type ID. */
    public boolean isPrivate() {
        return (type & Anep.OPTION_PRIVATE) != 0;
    }

    /** First 16 bits of the TLV as a sender writes them: flags and type. */
    public int wireType() {
        return discardIfUnknown ? type | Anep.OPTION_DISCARD : type;
    }

    /** The whole TLV in 32-bit words; 0 = varies. */
    public int words() {
        return words;
    }

    /** Octets of the option's payload; meaningful only where {@link #words()} is not 0. */
    int payloadOctets() {
        return (words - 1) * 4;
    }

    /**
     * Where the view keeps this wire type: ordinal + 1, or 0 for a type that it does not know.
     *
     * @param typeAndFlags the first 16 bits of the TLV
     */
    static int slot(int typeAndFlags) {
        int number = typeAndFlags & Anep.OPTION_TYPE_MASK;
        if ((typeAndFlags & Anep.OPTION_PRIVATE) == 0) {
            return number <= PUBLIC_OPTIONS ? number : 0;
        }
        int slot = PUBLIC_OPTIONS + number;
        return number != 0 && slot < SLOTS ? slot : 0;
    }

    /** Where the view keeps this option; 0 is left for types that it does not know. */
    int slot() {
        return ordinal() + 1;
    }

    static int slots() {
        return SLOTS;
    }
}
