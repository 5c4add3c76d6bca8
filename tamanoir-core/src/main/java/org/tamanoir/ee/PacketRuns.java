package org.tamanoir.ee;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Anep;
import org.tamanoir.anep.Likeness;
import org.tamanoir.anep.Option;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketLoan;
import org.tamanoir.anep.ParseFault;
import org.tamanoir.anep.ServiceKey;
import org.tamanoir.catalog.ServiceKeys;
import org.tamanoir.service.Verdict;
import org.tamanoir.supervision.Abandoned;
import org.tamanoir.supervision.NodeFault;
import org.tamanoir.traffic.Traffic;
import org.tamanoir.transport.Buffer;
import org.tamanoir.transport.NoMemoryException;

/**
 * The short way of packets that are {@linkplain Likeness like} one that went the whole way: what was settled for that
 * one holds for them. Those that follow each other make a run: one comparison each, the service, and together to their
 * next hop. Whatever a packet has of its own, another verdict or other memory, ends the run, and it goes on the whole
 * way from there. Runs change nothing that anybody could see but the time they take.
 *
 * <p>Thread contract: the service's thread.
 */
final class PacketRuns {
    /** A shorter run costs more than it saves. */
    private static final int WORTH_PACKETS = 6;
    /** Looks in vain, for a run worth it, before it rests. */
    private static final int PATIENCE = 8;

    /** The system property that has streams which begin from then on do without runs, when it is {@code off}. */
    static final String SWITCH = "tamanoir.runs";

    private static final int SHORTEST_REST = 16;
    /** Packets between two looks where runs never come: each costs a few packets' time. */
    private static final int LONGEST_REST = 1024;

    /** Nothing is like it. */
    private static final Known NOBODY = new Known();

    private final PacketPath path;
    private final PacketLoan loan;
    private final Packet packet;
    private final ServiceKeys keys;
    private final Traffic traffic;
    private final ServiceThread thread;
    private final boolean isOn = !"off".equals(System.getProperty(SWITCH));
    private final Rest looking = new Rest(0);
    private final Rest learning = new Rest(2); // A stream of one packet is not worth what a kind costs.
    /** Looks in a row that found no run worth it. */
    private int vain;

    private Known latest = NOBODY;
    private Known other = NOBODY;

    /** Where the run lies that is going on; no way while there is none. */
    private Egress.@Nullable Runs way;

    private @Nullable Buffer buffer;
    private int start;
    private int packets;
    /** Behind the run. */
    private int taken;
    /** Behind the packet in hand, which is the run's last or comes behind the run. */
    private int next;
    /** A run was to be handed on, and was not. */
    private boolean isTorn;

    /** Told how far packets have been taken, before each is handled: it is nobody else's then. */
    interface Input {
        void consumed(int at);
    }

    /** A kind of packets. */
    private static final class Known {
        final Likeness likeness = new Likeness();
        /** Packets like it came since it was learned. */
        boolean came;
    }

    /** Keeps an effort away that does not pay, for twice as many packets each time. */
    private static final class Rest {
        private int length;
        private int left;

        Rest(int packets) {
            left = packets;
        }

        /** Takes a packet off the rest; returns whether that was the last of it. */
        boolean passOne() {
            return left == 0 || --left == 0;
        }

        void begin() {
            length = Math.min(LONGEST_REST, Math.max(SHORTEST_REST, 2 * length));
            left = length;
        }

        void end() {
            length = 0;
            left = 0;
        }
    }

    /** @param path is made, but for this */
    PacketRuns(PacketPath path, PacketLoan loan, ServiceKeys keys, Traffic traffic) {
        this.path = path;
        this.loan = loan;
        this.packet = loan.packet();
        this.keys = keys;
        this.traffic = traffic;
        this.thread = path.thread;
    }

    /** Takes down what the packet in hand is like, which goes the whole way, so that others can follow. */
    void learn() {
        if (isOn && learning.passOne() && vain < PATIENCE) {
            Known replaced = other == NOBODY ? new Known() : other;
            if (replaced.came) {
                learning.end();
            } else {
                learning.begin();
            }
            replaced.came = false;
            replaced.likeness.take(packet);
            other = latest;
            latest = replaced;
        }
    }

    /**
     * Takes packets as long as they are of a known kind, and nothing comes between.
     *
     * @param end behind the last byte that is there
     * @return the index behind the last packet taken; {@code at} when the first is to go the whole way
     */
    int walk(Buffer from, int at, int end, Input input) {
        if (vain >= PATIENCE) {
            if (!looking.passOne()) {
                return at;
            }
            vain = PATIENCE - 2; // To learn, and to look.
        }
        ByteBuffer memory = from.nio();
        int length = latest.likeness.lengthAlike(memory, at, end - at);
        if (length == 0) {
            length = other.likeness.lengthAlike(memory, at, end - at);
            if (length == 0) {
                missed();
                return at;
            }
            Known found = other;
            other = latest;
            latest = found;
        }
        latest.came = true;
        packets = 0;
        int behind = path.isStraight() ? begin(latest.likeness, from, memory, at, end, input) : at;
        if (packets < WORTH_PACKETS) {
            missed();
        } else {
            vain = 0;
            looking.end();
        }
        return behind;
    }

    private void missed() {
        if (++vain == PATIENCE) {
            looking.begin();
        }
    }

    private int begin(Likeness likeness, Buffer from, ByteBuffer memory, int at, int end, Input input) {
        boolean isServed = keys.isFirst(likeness.key()) || keys.isAlias(likeness.key());
        if (!isServed && likeness.key() != ServiceKey.NONE) {
            return at; // Another service's.
        }
        if (isServed && !thread.isUnhindered()) {
            return at; // Its beginning has failed, or it is suspected.
        }
        RouteCacheEntry hop = path.nextHops.reached(
                likeness.destinationHigh(), likeness.destinationLow(), likeness.destinationPort());
        Egress departure = hop == null ? null : hop.departure;
        Egress.Runs to = departure == null ? null : departure.runs();
        if (hop == null || to == null || packet.parse(memory, at, end - at) != null) {
            return at;
        }
        if (hop.isActiveNode && !packet.has(Option.HOP_BUDGET)) {
            return at; // It gets one, and moves.
        }
        way = to;
        buffer = from;
        start = at;
        taken = at;
        next = at;
        packets = 0;
        try {
            run(likeness, isServed, hop, memory, end, input);
        } catch (NoMemoryException e) {
            end();
            path.lacksMemory(e);
        } catch (Abandoned e) {
            way = null; // Who gave the instance up has counted the run as dropped.
            throw e;
        } finally {
            end();
        }
        return next;
    }

    private void run(
            Likeness likeness, boolean isServed, RouteCacheEntry hop, ByteBuffer memory, int end, Input input) {
        boolean isReady = !hop.isActiveNode && hop.maxBytes >= Anep.MAX_PACKET_OCTETS && !likeness.hasChecksum();
        int length = packet.length();
        try {
            do {
                next += length;
                traffic.in(length);
                input.consumed(next);
                if (isServed) {
                    loan.lend();
                    Verdict verdict = thread.process(packet);
                    boolean asBefore = verdict == Verdict.FORWARD && loan.takeBackUnmoved();
                    if (!asBefore || way == null || !thread.isUnhindered()) {
                        leave(verdict, loan.takeBack());
                        return;
                    }
                }
                if (!isReady) {
                    DropReason reason = path.nextHops.prepare(packet, hop);
                    if (reason != null) {
                        end();
                        path.dispatcher.settle(reason, packet);
                        return;
                    }
                    packet.seal();
                }
                packets++;
                taken = next;
                length = likeness.lengthAlike(memory, next, end - next);
                loan.next(next, length, end - next);
            } while (length > 0);
        } catch (Abandoned | NodeFault | NoMemoryException e) {
            throw e;
        } catch (Throwable e) {
            if (!thread.isInService()) {
                throw new NodeFault(e);
            }
            thread.failedProcess(e);
            leave(null, loan.takeBack());
        } finally {
            thread.leaveProcess();
            loan.reclaim();
        }
    }

    /** The packet in hand goes the whole way from here, behind the run. */
    private void leave(@Nullable Verdict verdict, @Nullable ParseFault fault) {
        end();
        if (isTorn) {
            throw new NodeFault(new IllegalStateException("a run of packets was lost on its way to its next hop"));
        }
        path.conclude(verdict, fault);
    }

    /**
     * Hands on what the run has so far, and ends it, since something else is to come behind it, or to wait. What is thrown
     * here, be it for want of stack in a service that sends, ends the stream when the service has returned: packets are
     * missing then.
     */
    void end() {
        Egress.Runs to = way;
        Buffer from = buffer;
        way = null;
        buffer = null;
        if (to != null && from != null && packets > 0) {
            isTorn = true;
            to.add(from, start, taken - start, packets);
            isTorn = false;
        }
    }
}
