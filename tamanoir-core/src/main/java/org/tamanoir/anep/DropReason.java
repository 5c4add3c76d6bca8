package org.tamanoir.anep;

/**
 * Why a packet ended in this node. The list is closed: every packet that came in or was made here either leaves
 * or ends in exactly one of these, so that {@code in = out + dropped + held} holds at any time.
 */
public enum DropReason {
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
    OPTION_FORMAT,
    /** Unknown Type ID with the discard flag (rule 9). */
    TYPE_ID,
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
    /** The service threw, and its failure policy says drop or close. */
    SERVICE_FAILURE,
    /** A service's bounded input queue was full (UDP). */
    INBOX_FULL,
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
    /** The node stopped, or the service was taken away, before the packet could leave. */
    SHUTDOWN
}
