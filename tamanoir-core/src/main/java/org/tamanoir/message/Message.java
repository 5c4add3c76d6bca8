package org.tamanoir.message;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.Packet;
import org.tamanoir.format.Format;
import org.tamanoir.format.FormatException;
import org.tamanoir.format.RecordView;
import org.tamanoir.service.Allowance;

/**
 * One record on its way through handlers, and the header that it travels under: a flyweight that is pointed at message
 * after message and copies nothing.
 *
 * <p>Thread contract: one thread; what it points at is valid until the handler that was given it returns.
 */
public final class Message {
    private final RecordView record = new RecordView();
    private @Nullable Packet header;
    private @Nullable InetSocketAddress destination;
    /** Of the datagrams that it came in; null of one that a handler has made, for which the message in hand pays. */
    private @Nullable Allowance allowance;

    private long arrivalNs;
    /** Tells when it arrived, until it was asked; null then. */
    private @Nullable LongSupplier clock;

    /** Makes a message that points at nothing. */
    public Message() {}

    /**
     * Points at the record that starts at {@code at} and travels under this header.
     *
     * @param header a packet whose addresses, service, class and options the message has; its payload is not looked at
     * @param arrivalNs when the message, or the last one that it is made from, arrived: the node's clock
     * @throws FormatException if the bytes are no record of this format
     */
    public Message wrap(Format format, ByteBuffer memory, int at, int available, Packet header, long arrivalNs) {
        record.wrap(format, memory, at, available);
        this.header = header;
        this.destination = null;
        this.arrivalNs = arrivalNs;
        allowance = null;
        clock = null;
        return this;
    }

    /** Points at a record that has just arrived; the clock is asked when somebody wants to know. */
    Message wrap(
            Format format,
            ByteBuffer memory,
            int at,
            int available,
            Packet header,
            Allowance allowance,
            LongSupplier clock) {
        wrap(format, memory, at, available, header, 0);
        this.allowance = allowance;
        this.clock = clock;
        return this;
    }

    /**
     * Points at a record that a handler made of another message, whose header, time, destination and allowance it has.
     *
     * @throws FormatException if the bytes are no record of this format
     */
    public Message wrapLike(Message other, Format format, ByteBuffer memory, int at, int available) {
        record.wrap(format, memory, at, available);
        this.header = other.header;
        this.destination = other.destination;
        this.allowance = other.allowance;
        this.arrivalNs = other.arrivalNs();
        clock = null;
        return this;
    }

    /** Returns the format of the record. */
    public Format format() {
        return record.format();
    }

    /** Returns the record where it lies. */
    public RecordView record() {
        return record;
    }

    /** Returns the header: addresses, service, class, stream. Its payload may be anything. */
    public Packet header() {
        if (header == null) {
            throw new IllegalStateException("the message points at nothing: wrap a record first");
        }
        return header;
    }

    /** Returns when the message arrived, in ns of the node's clock. */
    public long arrivalNs() {
        if (clock != null) {
            arrivalNs = clock.getAsLong();
            clock = null;
        }
        return arrivalNs;
    }

    /** Returns what may leave on account of the message; null of one that a handler has made, and that has not left yet. */
    public @Nullable Allowance allowance() {
        return allowance;
    }

    /**
     * Has an allowance pay for the message; null: that of the message in hand when it leaves. For who runs handlers in
     * places of its own, and sends on what they give; handlers leave it alone.
     */
    public void setAllowance(@Nullable Allowance allowance) {
        this.allowance = allowance;
    }

    /** Returns where the message goes in place of its header's destination; null if that decides. */
    public @Nullable InetSocketAddress destination() {
        return destination;
    }

    /** Sends the message along the route of this address in place of its header's; null undoes it. */
    public void setDestination(@Nullable InetSocketAddress destination) {
        this.destination = destination;
    }
}
