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
     * A number in network order anywhere in the header behind its first 8 octets, into packets whose header is long
     * enough.
     *
     * @param offset from the packet's first octet, a multiple of {@code octets} from 8 to 252
     * @param octets 1, 2 or 4
     * @param value that fits so many octets, unsigned
     */
    record At(int offset, int octets, long value) implements Mark {
        /** Checks all three. */
        public At {
            if (octets != 1 && octets != 2 && octets != 4) {
                throw new IllegalArgumentException("mark of " + octets + " octets: must be 1, 2 or 4");
            }
            if (offset < 8 || offset > 252 || offset % octets != 0) {
                throw new IllegalArgumentException(
                        "mark at octet " + offset + ": must be a multiple of " + octets + " from 8 to 252");
            }
            if (value < 0 || value >>> 8 * octets != 0) {
                throw new IllegalArgumentException("mark " + value + ": must fit " + octets + " octets, unsigned");
            }
        }
    }
}
