package org.tamanoir.nodeos;

/** What a level writes into packets that it handles; checksums, also ANEP's own, stay right. */
public sealed interface Mark {
    /** Nothing. */
    record None() implements Mark {}

    /**
     * The class of service, into packets that have the option.
     *
     * @param value 0 to 255
     */
    record ClassOfService(int value) implements Mark {
        /** Checks the value. */
        public ClassOfService {
            if (value < 0 || value > 255) {
                throw new IllegalArgumentException("class of service " + value + ": must be 0 to 255");
            }
        }
    }

    /**
     * A number in network order anywhere in the header behind its first 8 bytes, into packets whose header is long
     * enough.
     *
     * @param offset from the packet's first byte, a multiple of {@code bytes} from 8 to 252
     * @param bytes 1, 2 or 4
     * @param value that fits so many bytes, unsigned
     */
    record At(int offset, int bytes, long value) implements Mark {
        /** Checks all three. */
        public At {
            if (bytes != 1 && bytes != 2 && bytes != 4) {
                throw new IllegalArgumentException("mark of " + bytes + " bytes: must be 1, 2 or 4");
            }
            if (offset < 8 || offset > 252 || offset % bytes != 0) {
                throw new IllegalArgumentException(
                        "mark at byte " + offset + ": must be a multiple of " + bytes + " from 8 to 252");
            }
            if (value < 0 || value >>> 8 * bytes != 0) {
                throw new IllegalArgumentException("mark " + value + ": must fit " + bytes + " bytes, unsigned");
            }
        }
    }
}
