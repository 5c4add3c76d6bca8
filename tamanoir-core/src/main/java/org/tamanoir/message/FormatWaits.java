package org.tamanoir.message;

import java.net.InetSocketAddress;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.Packet;
import org.tamanoir.format.FormatId;
import org.tamanoir.format.FormatSource;

/**
 * Asks for formats that packets have to wait for, and has these go on when an answer has come, or its time is over.
 *
 * <p>Thread contract: the service's thread; answers come on any.
 */
final class FormatWaits {
    /** Has packets go on that have waited. */
    interface Path {
        /** Handles a packet; returns the format that it has to wait for next, null if it has gone. */
        @Nullable
        FormatId goOn(FormatHold.Held held);

        /** Has {@link #takeAnswers} called, as a task of its own. */
        void answersCame();
    }

    /** What asking for a format led to. */
    private record Answer(FormatId id, boolean known) {}

    /** That the thread waits for formats, with a packet in hand or at the end; a node gives up what does not return for 30 s. */
    private static final long WAIT_NS = 10_000_000_000L;

    private final FormatHold hold;
    private final FormatSource formats;
    private final MessagePath.Node node;
    private final TaskClock clock;
    private final Path path;
    /** As many as are asked for at once, and those that come later than they are waited for. */
    private final BlockingQueue<Answer> answers = new LinkedBlockingQueue<>();

    FormatWaits(FormatHold hold, FormatSource formats, MessagePath.Node node, TaskClock clock, Path path) {
        this.hold = hold;
        this.formats = formats;
        this.node = node;
        this.clock = clock;
        this.path = path;
    }

    /** Asks for a format that a packet waits for, unless it is asked for already. */
    void ask(FormatId id, Packet packet) {
        if (hold.ask(id, clock.getAsLong())) {
            formats.request(id, previousNode(packet), format -> answered(id, format != null));
        }
    }

    /** Hands an answer to the service's thread. Any thread. */
    void answered(FormatId id, boolean known) {
        answers.add(new Answer(id, known));
        // If it does not run, the answer is taken with the next packet, or when its time is over.
        boolean ignored = node.execute(path::answersCame);
    }

    /** Returns the code server of the node before; an unspecified address stands for that node's own. */
    private @Nullable InetSocketAddress previousNode(Packet packet) {
        InetSocketAddress named = packet.previousNode();
        if (named == null || !named.getAddress().isAnyLocalAddress()) {
            return named;
        }
        InetSocketAddress peer = node.stream().peer();
        return peer == null ? null : new InetSocketAddress(peer.getAddress(), named.getPort());
    }

    /** Returns whether answers have come. */
    boolean hasAnswers() {
        return !answers.isEmpty();
    }

    /** Has the packets go on whose formats have been answered for. */
    void takeAnswers() {
        Answer answer;
        while ((answer = answers.poll()) != null) {
            take(answer);
        }
    }

    private void take(Answer answer) {
        hold.answered(answer.id, answer.known, clock.getAsLong());
        boolean done = false;
        try {
            for (FormatHold.Flow flow : hold.waitingFor(answer.id)) {
                goOn(flow);
            }
            done = true;
        } finally {
            if (!done) {
                answered(answer.id, answer.known); // For what was behind the message at which something threw.
            }
        }
    }

    /** Has the packets of a stream go on, until one has to wait anew. */
    private void goOn(FormatHold.Flow flow) {
        while (!flow.packets.isEmpty()) {
            FormatHold.Held held = flow.packets.element();
            FormatId missing = null;
            try {
                missing = path.goOn(held);
            } finally {
                if (missing == null) {
                    hold.taken(flow);
                }
            }
            if (missing != null) {
                flow.waitsFor = missing;
                ask(missing, held.packet());
                return;
            }
        }
    }

    /** Ends what has been asked for too long. */
    void expire() {
        FormatId eldest;
        while ((eldest = hold.eldest()) != null && clock.getAsLong() - hold.eldestEndsNs() >= 0) {
            take(new Answer(eldest, false));
        }
    }

    /** Ends all that is still asked for. */
    void refuseAll() {
        FormatId eldest;
        while ((eldest = hold.eldest()) != null) {
            take(new Answer(eldest, false));
        }
    }

    /** Waits for formats until there is room for a packet of so many bytes, or nothing waits any more; bounded. */
    void awaitRoom(int bytes) {
        long deadline = clock.getAsLong() + WAIT_NS;
        FormatId eldest;
        while (!hold.isEmpty()
                && !hold.hasRoom(bytes)
                && (eldest = hold.eldest()) != null
                && deadline - clock.getAsLong() > 0) {
            try {
                boolean endsFirst = hold.eldestEndsNs() - deadline <= 0;
                long ends = endsFirst ? hold.eldestEndsNs() : deadline;
                Answer answer = answers.poll(ends - clock.getAsLong(), TimeUnit.NANOSECONDS);
                clock.begin();
                if (answer == null && !endsFirst) {
                    return;
                }
                take(answer != null ? answer : new Answer(eldest, false));
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return;
            }
        }
    }
}
