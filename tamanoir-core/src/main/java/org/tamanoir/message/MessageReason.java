package org.tamanoir.message;

/** Why messages end before a handler has seen them, or by it; handlers have reasons of their own besides. */
public enum MessageReason {
    /** Nobody has the format within the time, or asking for it found no room. */
    FORMAT,
    /** The payload does not begin with the identifier that option 6 names, or neither is one. */
    FORMAT_ID,
    /** The packet is no message; it counts as a packet alone. */
    OTHER,
    /** The handler does not take messages of this format. */
    UNFIT,
    /** The bytes are no record of their format, or more than one. */
    RECORD,
    /** The record is longer than {@code message-bytes}. */
    TOO_LONG,
    /** The record is longer than its packet, and no option 4 tells which packets follow. */
    NO_STREAM,
    /** A packet came twice. */
    DUPLICATE,
    /** The packets of a message hold more than the message, or another one begins among them. */
    OVERLAP,
    /** Not all packets of the message came within {@code reassembly-time}, or before the stream ended. */
    INCOMPLETE,
    /** So much is being put together already: {@code reassembly-bytes}, {@code reassembly-messages}. */
    REASSEMBLY_FULL,
    /** So much waits for formats already: {@code hold-bytes}, {@code hold-packets}, {@code hold-formats}. */
    HOLD_FULL,
    /** The header leaves no room for the record in packets that can be sent. */
    NO_ROOM,
    /** It would have been more than one datagram may cause: {@code limits.udp-growth}, {@code limits.udp-amplifiers}. */
    GROWTH,
    /** The handler sent it to no port. */
    NO_PORT,
    /** The handler threw. */
    FAILED,
    /** The service ended while a handler held it. */
    ENDED
}
