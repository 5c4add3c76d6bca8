package org.tamanoir.anep;

/** The receive rules of ANEP by which a packet is found malformed, whoever reads it. */
public enum ParseFault {
    /** Fewer than 8 octets (receive rule 1). */
    SHORT,
    /** Version is not 1 (rule 2). */
    VERSION,
    /** Header Length below 2 words, or past the packet (rule 3). */
    HEADER_LENGTH,
    /** The packet claims more octets than the datagram, or the connection, brought (rule 4). */
    TRUNCATED,
    /** An option of length 0, or one that reaches past the header (rule 5). */
    OPTION_LENGTH,
    /** Wrong checksum, or two of them (rule 6). */
    CHECKSUM,
    /** An unknown option that asks for the packet to be discarded (rule 7). */
    OPTION,
    /** An option of a known type whose length does not fit it (rule 8). */
    OPTION_FORMAT
}
