package org.tamanoir.accounting;

import org.tamanoir.anep.ParseFault;

/**
 * Why a packet ended in this node. The list is closed: every packet that came in or was made here either leaves
 * or ends in exactly one of these, so that {@code in = out + dropped + held} holds at any time.
 */
public enum DropReason {
    /** {@link ParseFault#SHORT}. */
    SHORT,
    /** {@link ParseFault#VERSION}. */
    VERSION,
    /** {@link ParseFault#HEADER_LENGTH}. */
    HEADER_LENGTH,
    /** {@link ParseFault#TRUNCATED}. */
    TRUNCATED,
    /** {@link ParseFault#OPTION_LENGTH}. */
    OPTION_LENGTH,
    /** {@link ParseFault#CHECKSUM}. */
    CHECKSUM,
    /** {@link ParseFault#OPTION}. */
    OPTION,
    /** {@link ParseFault#OPTION_FORMAT}. */
    OPTION_FORMAT,
    /** It came with a selector that no node issues: 0, or one that is reserved. */
    SELECTOR,
    /** It came with a selector that this node has not issued, or not since its start. */
    MISS,
    /** It came with a selector whose lifetime is over. */
    EXPIRED,
    /** It came with a selector that was issued to somebody else. */
    SOURCE,
    /** It is raw IP behind a selector, which the node does not take. */
    RAW_IP,
    /** It came to a gateway for RTP, and is neither RTP nor RTCP. */
    RTP,
    /** Unknown Type ID with the discard flag (rule 9). */
    TYPE_ID,
    /** It must be authenticated, and has no authentication option, or one that was left empty. */
    AUTH_MISSING,
    /** Its authentication is by an algorithm that the node does not know. */
    AUTH_ALGORITHM,
    /** The node does not have the key that it names, or that is to sign it. */
    AUTH_KEY,
    /** Its MAC is not what the key makes of it. */
    AUTH_MAC,
    /** It has no stream and sequence number, by which a replay could be told. */
    AUTH_SEQUENCE,
    /** Its sequence number has come already, or is behind its stream's window. */
    AUTH_REPLAY,
    /** No destination, or none that a route or the direct-delivery list allows. */
    NO_ROUTE,
    /** The destination is this node itself, and no service took the packet. */
    LOCAL,
    /** No active hop is left in the packet's budget. */
    HOP_BUDGET,
    /** The packet would go straight back to where it came from. */
    LOOP,
    /** The packet does not fit the next hop's transport, or an option that must be added does not fit it. */
    PACKET_TOO_LONG,
    /** The node does not have the service, and the failure policy says drop or close. */
    UNKNOWN_SERVICE,
    /** The service's code could not be had, or was refused; the log says why. */
    DEPLOYMENT_FAILED,
    /** The service's code is on its way, and the bounded room for packets that wait for it was full (UDP). */
    DEPLOYMENT_HOLD_FULL,
    /** The service failed too often, or used too much, and is not run for a while. */
    QUARANTINED,
    /** The service dropped it; the service's own reason is counted beside it. */
    SERVICE,
    /** The service took it in by design (aggregation, decoding). */
    CONSUMED,
    /** Its TCP stream was closed or reset by a service's verdict on a packet before it. */
    SERVICE_CLOSED,
    /** A datagram would have caused more bytes than one may, or its service amplifies and is not offered on UDP. */
    AMPLIFICATION,
    /** The service threw, and its failure policy says drop or close. */
    SERVICE_FAILURE,
    /** It used more of a processor than its service's budget for a packet, and the failure policy says drop or close. */
    BUDGET,
    /** The service made bytes of it that are no ANEP packet: they break one of the receive rules. */
    SERVICE_MALFORMED,
    /** A service's bounded input queue was full (UDP). */
    INBOX_FULL,
    /** The service held as many packets as it may. */
    HOLD_FULL,
    /** The service held it, and said in time nothing of what becomes of it. */
    HOLD_EXPIRED,
    /** The next hop refused the connection or could not be reached in time. */
    NEXT_HOP_UNREACHABLE,
    /** The connection to the next hop broke before the packet was handed to it. */
    NEXT_HOP_LOST,
    /** The next hop took nothing for longer than the stall time-out. */
    NEXT_HOP_STALLED,
    /** The bounded queue to a TCP next hop was full (UDP arrivals). */
    OUTPUT_FULL,
    /** The bounded queue of its class before processing was full (UDP): it has cost no invocation. */
    TURN_QUEUE_FULL,
    /** The bounded queue of its class, or its link, was full (UDP). */
    QUEUE_FULL,
    /** The queue's delay was kept too high for too long (CoDel, UDP). */
    QUEUE_DELAY,
    /** It exceeded the rate that is allowed (UDP). */
    RATE_EXCEEDED,
    /** It came after its round had passed in a distributed element that discards what is late (UDP). */
    LATE,
    /** The unit of a distributed element that had it is gone. */
    PATH_LOST,
    /** The ring of a distributed element ended before it could leave (UDP). */
    RING_FINISH,
    /** No class fits it, and the discipline keeps none for the rest. */
    UNCLASSIFIED,
    /** Its class got no turn, or no departure, for the stall time-out; a TCP stream is closed. */
    STARVED,
    /** The operating system refused the datagram. */
    SEND_ERROR,
    /** A reply for a sender whose connection is gone, or a packet of one that went while its service was fetched. */
    PEER_GONE,
    /** An instance of the service could not be started: its constructor threw or hangs, or no thread was to be had. */
    NO_INSTANCE,
    /**
     * The node has no place for another service of the connection, because of {@code limits.max-branches}, of one of the
     * limits of streams or of memory; and the failure policy says drop or close.
     */
    STREAM_LIMIT,
    /** No memory was left for the packet; a TCP stream is closed. */
    NO_MEMORY,
    /** No whole packet came from either side of a TCP stream for the idle time-out; it is closed. */
    IDLE,
    /** The node stopped, or the service was taken away, before the packet could leave. */
    SHUTDOWN;

    /** Returns the reason under which malformed packets are dropped: the one of the fault's name. */
    public static DropReason of(ParseFault fault) {
        return valueOf(fault.name());
    }
}
