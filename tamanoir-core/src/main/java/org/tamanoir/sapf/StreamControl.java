package org.tamanoir.sapf;

import java.nio.ByteBuffer;
import java.security.SecureRandom;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The messages of one connection in SAPF, and the selectors that this end has issued for it. Messages wait here until the
 * far side takes what it is sent: {@value #SAID_OCTETS} octets of them at most. Requests beyond that get no answer, and
 * their flows stay ANEP.
 *
 * <p>Thread contract: the connection's thread.
 */
final class StreamControl {
    /** Of the length in front of each message. */
    static final int LENGTH_OCTETS = 4;

    private static final int SAID_OCTETS = 4_096;
    private static final long SECOND_NS = TimeUnit.SECONDS.toNanos(1);
    private static final SecureRandom RANDOM = new SecureRandom();

    private final Sapf sapf;
    /** Null where this end issues selectors. */
    private final @Nullable StreamFlows flows;
    /** Null before the first. */
    private @Nullable StreamSelectors issued;

    /** Small for those that say no more than how they speak. */
    private ByteBuffer said = ByteBuffer.allocate(64);

    private long toldUnknownNs;

    /** @param flows for which the far side is asked for selectors; null = this end issues them */
    StreamControl(Sapf sapf, int opening, @Nullable StreamFlows flows) {
        this.sapf = sapf;
        this.flows = flows;
        this.toldUnknownNs = sapf.nowNs() - SECOND_NS;
        said.putInt(opening);
        if (flows != null) {
            putSelector(Control.RELEASE, Selector.NONE);
        }
    }

    /** Returns what a selector stands for that this end has issued; null when it is none. */
    @Nullable
    HeaderTemplate find(long selector) {
        return issued == null ? null : issued.find(selector);
    }

    /** Tells the far side, not too often, that its selector is not known. */
    void miss(long selector) {
        long nowNs = sapf.nowNs();
        if (nowNs - toldUnknownNs >= SECOND_NS && hasRoom(Control.SELECTOR_OCTETS)) {
            toldUnknownNs = nowNs;
            sapf.unknown();
            putSelector(Control.UNKNOWN, selector);
        }
    }

    /** Does what a message asks for. */
    void take(ByteBuffer memory, int at, int octets) {
        int content = at + Control.CONTENT;
        switch (Control.type(memory, at, octets)) {
            case Control.BIND -> bind(memory, at, octets);
            case Control.REFRESH -> refresh(memory.getLong(content), memory.getLong(content + 8));
            case Control.RELEASE -> release(memory.getLong(content));
            case Control.BOUND -> answered(memory.getLong(content), memory.getLong(content + 8));
            case Control.REFUSED -> answered(memory.getLong(content), Selector.NONE);
            case Control.UNKNOWN -> {
                if (flows != null) {
                    flows.unknown(memory.getLong(content));
                }
            }
            default -> sapf.malformed();
        }
    }

    private void bind(ByteBuffer memory, int at, int octets) {
        if (!hasRoom(Control.BOUND_OCTETS)) {
            return;
        }
        long request = memory.getLong(at + Control.CONTENT);
        Object outcome = flows != null
                ? Refused.NOT_ACCEPTED
                : sapf.header(memory, at + Control.BIND_HEADER, octets - Control.BIND_HEADER);
        if (outcome instanceof HeaderTemplate header) {
            StreamSelectors own = selectors();
            long selector = own.bind(header);
            outcome = selector != Selector.NONE ? selector : own.isFull() ? Refused.SOURCE_FULL : Refused.FULL;
        }
        if (outcome instanceof Refused reason) {
            sapf.refused();
            int message = begin(Control.REFUSED, Control.REFUSED_OCTETS);
            said.putLong(message + Control.CONTENT, request).putInt(message + Control.CONTENT + 8, reason.number());
        } else if (outcome instanceof Long selector) {
            putBound(request, selector);
        }
    }

    private StreamSelectors selectors() {
        StreamSelectors known = issued;
        if (known == null) {
            known = new StreamSelectors(sapf.issuedToStreams(), sapf.issued().epoch(), RANDOM::nextInt);
            issued = known;
        }
        return known;
    }

    private void refresh(long request, long selector) {
        if (find(selector) == null) {
            miss(selector);
        } else if (hasRoom(Control.BOUND_OCTETS)) {
            putBound(request, selector);
        }
    }

    private void release(long selector) {
        if (issued != null) {
            issued.release(selector);
        }
    }

    private void answered(long request, long selector) {
        if (flows != null) {
            flows.answered(request, selector);
        }
    }

    private boolean hasRoom(int octets) {
        return said.position() + LENGTH_OCTETS + octets <= SAID_OCTETS;
    }

    /** Begins a message that is to be said, for which there is room; returns where it stands. */
    private int begin(int type, int octets) {
        if (said.remaining() < LENGTH_OCTETS + octets) {
            said = ByteBuffer.allocate(SAID_OCTETS).put(said.flip());
        }
        int at = putHead(said, said.position(), type, octets);
        said.position(at + octets);
        return at;
    }

    private void putSelector(int type, long selector) {
        int at = begin(type, Control.SELECTOR_OCTETS);
        said.putLong(at + Control.CONTENT, selector);
    }

    /** Puts a selector that lives as long as the connection, which a lifetime of 0 says. */
    private void putBound(long request, long selector) {
        int at = begin(Control.BOUND, Control.BOUND_OCTETS);
        said.putLong(at + Control.CONTENT, request)
                .putLong(at + Control.CONTENT + 8, selector)
                .putInt(at + Control.CONTENT + 16, 0);
    }

    /** Puts what a message of that many octets begins with, and its length in front; returns where the message stands. */
    private static int putHead(ByteBuffer memory, int at, int type, int octets) {
        memory.putInt(at, octets);
        Control.putHead(memory, at + LENGTH_OCTETS, type, octets);
        return at + LENGTH_OCTETS;
    }

    /** Returns the octets of what is to be said now. */
    int saidOctets() {
        return said.position();
    }

    void say(ByteBuffer to, int at) {
        to.put(at, said.array(), 0, said.position());
        said.clear();
    }

    /** Returns the octets of the messages that go in front of a packet, with which its flow begins. */
    static int askingOctets(HeaderTemplate header, long released) {
        int bind = LENGTH_OCTETS + Control.BIND_HEADER + header.octets();
        return released == Selector.NONE ? bind : bind + LENGTH_OCTETS + Control.SELECTOR_OCTETS;
    }

    /** Puts these: the release of the selector of the flow that gave way, unless it had none, and the request for one. */
    static void ask(ByteBuffer memory, int start, HeaderTemplate header, int request, long released) {
        int at = start;
        if (released != Selector.NONE) {
            int message = putHead(memory, at, Control.RELEASE, Control.SELECTOR_OCTETS);
            memory.putLong(message + Control.CONTENT, released);
            at = message + Control.SELECTOR_OCTETS;
        }
        int message = putHead(memory, at, Control.BIND, Control.BIND_HEADER + header.octets());
        memory.putLong(message + Control.CONTENT, request).putInt(message + Control.CONTENT + 8, 0);
        header.writeAlone(memory, message + Control.BIND_HEADER);
    }

    /** Gives the selectors of both sides back. */
    void close() {
        if (issued != null) {
            issued.releaseAll();
        }
        if (flows != null) {
            flows.unbindAll();
        }
    }
}
