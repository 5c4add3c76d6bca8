package org.tamanoir.cluster.reflect;

/** What a session carries, and so what is looked at in its datagrams. */
public enum Format {
    /** Any datagrams: nothing is looked at, so a loop of reflectors does not end. */
    UDP,
    /** RTP (RFC 3550), with RTCP on the port behind, or on the same one (RFC 5761). */
    RTP,
    /** ANEP packets. */
    ANEP
}
