package org.tamanoir.message;

import java.util.Objects;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.tamanoir.format.Format;
import org.tamanoir.format.FormatException;
import org.tamanoir.format.FormatRegistry;
import org.tamanoir.service.Allowance;

/**
 * The way out of a service for a handler's messages: all ports lead there.
 *
 * <p>Thread contract: the service's thread.
 */
final class Exit implements Outlet {
    private final MessageCounts counts;
    private final Segmenter segmenter;
    private final LongSupplier clock;
    private final FormatRegistry known;
    /** What the handler said of the message in hand. */
    long ports;

    @Nullable
    Message replacement;

    String reason = "";

    /** The message in hand has caused all that it may: nothing more leaves on account of it, nor itself. */
    boolean outgrown;

    /** Pays for messages that a handler makes. */
    private Allowance allowance = Allowance.FREE;

    Exit(MessageCounts counts, Segmenter segmenter, LongSupplier clock, FormatRegistry known) {
        this.clock = clock;
        this.known = known;
        this.counts = counts;
        this.segmenter = segmenter;
    }

    /** Has this pay for messages that a handler makes from now on. */
    void charge(Allowance to) {
        allowance = to;
    }

    /** Forgets what was said of the message before. */
    void begin() {
        ports = 1;
        replacement = null;
        reason = "no reason given";
    }

    @Override
    public long nowNs() {
        return clock.getAsLong();
    }

    @Override
    public void to(long ports) {
        this.ports = ports;
    }

    @Override
    public void replace(Message record) {
        replacement = Objects.requireNonNull(record);
    }

    @Override
    public Outcome drop(String reason) {
        this.reason = Objects.requireNonNull(reason);
        return Outcome.DROP;
    }

    @Override
    public void emit(int port, Message made) {
        counts.made(1);
        send(made);
    }

    /** Returns what pays for a message: what it came in, or, where a handler made it, what the one in hand came in. */
    Allowance paying(Message message) {
        Allowance own = message.allowance();
        return own == null ? allowance : own;
    }

    /**
     * Makes the format of a message that leaves known to the node: who receives it asks for it. A handler may have derived
     * it just now, from one that nobody knew before, so it is nowhere else.
     */
    void publish(Format format) {
        if (known.find(format.id()) == null) {
            try {
                known.add(format);
            } catch (FormatException e) {
                // A node keeps no description of this length, and receivers take none.
            }
        }
    }

    /** Sends a message that is counted already, as packets of its own. */
    void send(Message message) {
        publish(message.format());
        MessageReason lost = MessageReason.FAILED;
        Allowance paying = paying(message);
        try {
            lost = segmenter.send(message, paying);
            outgrown |= lost == MessageReason.GROWTH && paying == allowance;
        } finally {
            if (lost == null) {
                counts.out(1);
            } else {
                counts.dropped(lost.name(), 1);
            }
        }
    }

    /** Sends copies of a message to all ports but the first that the handler named. */
    void sendCopies(Message message) {
        int left = Long.bitCount(ports) - 1;
        try {
            for (; left > 0; left--) {
                emit(left, message);
            }
        } finally {
            if (left > 0) {
                counts.dropped(MessageReason.FAILED.name(), 1); // What the node throws ends the message too.
            }
        }
    }

    @Override
    public void release(long messages, @Nullable String droppedFor) {
        counts.held(-messages);
        if (droppedFor == null) {
            counts.merged(messages);
        } else {
            counts.dropped(droppedFor, messages);
        }
    }
}
