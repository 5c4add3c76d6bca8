package org.tamanoir.cluster.reflect;

/** Why a datagram, or the copy of one that was meant for a member, did not leave. */
public enum ReflectDrop {
    /** Who sent it is neither a member that may send nor of a prefix that may. */
    NOT_ALLOWED,
    /** It is no RTP, RTCP or ANEP, or it is empty. */
    MALFORMED,
    /** It passed here less than 2 s ago; or it would go to a member that has this SSRC itself. */
    LOOP,
    /** ANEP: no active hop is left, or nothing is in it that would end a loop. */
    HOP_BUDGET,
    /** A wish to join found as many members as are allowed. */
    MEMBERS_FULL,
    /** The member's rate, or that of wishes to join, was exceeded. */
    RATE_EXCEEDED,
    /** ANEP: its drop precedence is above what the member's class gets. */
    QUALITY,
    /** The socket's send buffer was full. */
    QUEUE_FULL,
    /** The operating system refused it. */
    SEND_ERROR;

    /** How many there are. */
    static final int COUNT = values().length;
}
