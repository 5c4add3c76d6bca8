package org.tamanoir.ee;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Fold;
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
import org.tamanoir.transport.NoMemoryException;

/**
 * The short way of datagrams that are {@linkplain Likeness like} one that went the whole way, as {@link PacketRuns} are
 * it over TCP: what was settled for that one holds for those of a batch that follow each other, whoever sent them. What
 * one datagram may cause is asked for each; those of equal length that stand back to back are added to their way out
 * together. What the service does not simply send on ends the run, and goes the whole way from there.
 *
 * <p>Folded datagrams are alike by their {@linkplain Fold header}: it is parsed, and made ready for the next hop, once.
 * Where that one takes them folded they leave as they lie, with other octets in place of the header.
 *
 * <p>Thread contract: the service's thread.
 */
final class DatagramRuns {
    /** Datagrams that go the whole way for each that is learned from, which costs a tenth of what a datagram does. */
    private static final int STRANGERS = 8;

    private final PacketPath path;
    private final UdpReaction reaction;
    private final PacketLoan loan;
    private final Packet packet;
    private final ServiceKeys keys;
    private final Traffic traffic;
    private final ServiceThread thread;
    private final boolean isOn = !"off".equals(System.getProperty(PacketRuns.SWITCH));
    private final Likeness likeness = new Likeness();
    private final FoldedHeader folded;
    private int strangers = STRANGERS;

    /** Where the run goes on to; null while there is none. */
    private @Nullable UdpEgress way;

    private @Nullable RouteCacheEntry hop;
    private @Nullable ByteBuffer memory;
    /** Of those gathered: where the first begins, the bytes of each, and how many. */
    private int start;

    private int length;
    private int packets;
    /** Those gathered are folded. */
    private boolean isFolded;
    /** Those gathered were to be handed on, and were not. */
    private boolean isTorn;

    /** A walk along the datagrams of a batch, one of which is in hand. */
    interface Walk {
        /** Goes to the next datagram; false when there is none. */
        boolean next();

        /** Has {@link #next} give the same datagram once more. */
        void putBack();

        /** Returns the memory in which the datagram in hand lies. */
        ByteBuffer memory();

        /** Returns where the datagram in hand begins. */
        int at();

        /** Returns its bytes; 0 for an empty one. */
        int length();

        /** Returns how many datagrams it and those behind it in its message are. */
        int together();

        /** Returns the header that it has {@value Fold#OCTETS} octets in place of; null for a whole packet. */
        @Nullable
        Fold fold();

        /** Makes it, and those behind it in its message, whole; false when they were dropped for want of memory. */
        boolean unfold();
    }

    /**
     * @param path is made, but for this
     * @param typeId of Tamanoir's packets
     */
    DatagramRuns(
            PacketPath path, UdpReaction reaction, PacketLoan loan, ServiceKeys keys, Traffic traffic, int typeId) {
        this.path = path;
        this.reaction = reaction;
        this.loan = loan;
        this.packet = loan.packet();
        this.keys = keys;
        this.traffic = traffic;
        this.thread = path.thread;
        this.folded = new FoldedHeader(typeId);
    }

    /** Takes down what the datagram in hand is like, which goes the whole way, so that others can follow. */
    void learn() {
        if (isOn && ++strangers > STRANGERS) {
            strangers = 0;
            likeness.take(packet);
        }
    }

    /**
     * Takes the datagram at which the walk stands, and those behind it as long as they are of the known kind.
     *
     * @return false when that one is to go the whole way, and none was taken
     */
    boolean take(Walk walk) {
        if (!isAlike(walk) || !path.isStraight() || isHindered(likeness.key())) {
            return false;
        }
        RouteCacheEntry to = path.nextHops.routes.hop(
                likeness.destinationHigh(), likeness.destinationLow(), likeness.destinationPort());
        if (!leads(to) || packet.parse(walk.memory(), walk.at(), walk.length()) != null) {
            return false;
        }
        if (to.isActiveNode && !packet.has(Option.HOP_BUDGET)) {
            return false; // It gets one, and moves.
        }
        run(walk, to, likeness.key(), null);
        return true;
    }

    /**
     * Takes the folded datagram at which the walk stands, and those behind it with the same header, if they leave folded,
     * too.
     *
     * @return false when they are to be whole packets first, and none was taken
     */
    boolean takeFolded(Walk walk) {
        Fold fold = walk.fold();
        if (fold == null || !isOn || !path.isStraight() || !folded.take(fold, walk.together())) {
            return false;
        }
        if (!folded.open(packet)) {
            return false;
        }
        long key = packet.serviceKey();
        if (isHindered(key)) {
            return false;
        }
        RouteCacheEntry to =
                path.nextHops.routes.hop(packet.destinationHigh(), packet.destinationLow(), packet.destinationPort());
        if (!leads(to)
                || !folded.prepare(path.nextHops, to)
                || !(to.departure instanceof UdpEgress out && out.folds(folded.onward(), to))
                || walk.length() > longestFolded(to)) {
            return false;
        }
        loan.fold(walk.memory(), walk.at() + Fold.OCTETS, walk.length() - Fold.OCTETS);
        run(walk, to, key, fold);
        return true;
    }

    /** Returns the bytes of the longest folded datagram that is no longer than the next hop takes as a whole packet. */
    private int longestFolded(RouteCacheEntry to) {
        return to.maxBytes - folded.octets() + Fold.OCTETS;
    }

    private boolean isServed(long key) {
        return keys.isFirst(key) || keys.isAlias(key);
    }

    /** Returns whether it is another service's, or this one's beginning has failed, or it is suspected. */
    private boolean isHindered(long key) {
        return isServed(key) ? !thread.isUnhindered() : key != ServiceKey.NONE;
    }

    /** Returns whether datagrams leave there with nobody to be asked, or told what they are marked with. */
    private boolean leads(RouteCacheEntry to) {
        return to.link == null && !path.nextHops.marks() && to.departure instanceof UdpEgress;
    }

    /** Runs along datagrams that are alike, the first of which the view is at, or folded ones of one header. */
    private void run(Walk walk, RouteCacheEntry to, long key, @Nullable Fold fold) {
        way = (UdpEgress) to.departure;
        hop = to;
        memory = walk.memory();
        isFolded = fold != null;
        isTorn = false;
        try {
            if (fold == null) {
                run(walk, isServed(key), to);
            } else {
                runFolded(walk, fold, isServed(key), longestFolded(to));
            }
        } catch (NoMemoryException e) {
            end();
            path.lacksMemory(e);
        } catch (Abandoned e) {
            packets = 0; // Who gave the instance up has counted them as dropped.
            throw e;
        } finally {
            end();
            way = null;
        }
    }

    private void runFolded(Walk walk, Fold fold, boolean isServed, int maxBytes) {
        while (true) {
            traffic.in(packet.length());
            if (isServed && !process()) {
                return;
            }
            gather(walk.at(), walk.length());
            if (!walk.next()) {
                return;
            }
            if (walk.fold() != fold
                    || walk.memory() != memory
                    || walk.length() > maxBytes
                    || isServed && !thread.isUnhindered()
                    || path.dispatcher.isInTransit()) {
                walk.putBack();
                return;
            }
            loan.nextFolded(walk.at() + Fold.OCTETS, walk.length() - Fold.OCTETS);
        }
    }

    /** A datagram with bytes behind its packet is like none: it counts as an anomaly. */
    private boolean isAlike(Walk walk) {
        int length = walk.length();
        return likeness.lengthAlike(walk.memory(), walk.at(), length) == length && length > 0;
    }

    private void run(Walk walk, boolean isServed, RouteCacheEntry to) {
        while (true) {
            traffic.in(walk.length());
            if (isServed && !process()) {
                return;
            }
            DropReason reason = path.nextHops.prepare(packet, to);
            if (reason == null) {
                packet.seal();
                gather(walk.at(), walk.length());
            } else {
                path.dispatcher.settle(reason, packet);
            }
            if (!walk.next()) {
                return;
            }
            if (isServed && !thread.isUnhindered()
                    || path.dispatcher.isInTransit()
                    || walk.memory() != memory
                    || !isAlike(walk)) {
                walk.putBack();
                return;
            }
            loan.next(walk.at(), walk.length(), walk.length());
        }
    }

    /** Gives the service the packet in hand; false when the packet has gone on, or ended, from there. */
    private boolean process() {
        Verdict verdict;
        ParseFault fault = null;
        boolean asBefore;
        loan.lend();
        try {
            verdict = path.call(reaction);
            asBefore = verdict == Verdict.FORWARD && loan.takeBackUnmoved();
            if (!asBefore) {
                fault = loan.takeBack();
            }
        } catch (Throwable e) {
            path.reclaim();
            throw e;
        }
        if (isTorn) {
            isTorn = false;
            throw new NodeFault(new IllegalStateException("datagrams were lost on their way to their next hop"));
        }
        if (asBefore && path.dispatcher.admits(reaction, packet)) {
            return true;
        }
        if (isFolded && !loan.isFolded()) {
            folded.changes();
        }
        end();
        path.conclude(verdict, fault);
        return false;
    }

    private void gather(int at, int bytes) {
        if (packets > 0 && (at != start + packets * length || bytes != length)) {
            end();
        }
        if (packets++ == 0) {
            start = at;
            length = bytes;
        }
    }

    /**
     * Hands on what was gathered, since something else is to come behind it. What is thrown here, be it for want of stack
     * in a service that sends, is a fault of the node when the service has returned: datagrams are missing then.
     */
    void end() {
        int gathered = packets;
        if (gathered > 0 && way != null && hop != null && memory != null) {
            packets = 0;
            isTorn = true;
            add(way, hop, memory, gathered);
            isTorn = false;
        }
    }

    private void add(UdpEgress known, RouteCacheEntry hop, ByteBuffer memory, int gathered) {
        UdpEgress way;
        try {
            way = path.nextHops.back(known, hop);
        } catch (NoMemoryException e) {
            traffic.drop(DropReason.NO_MEMORY, gathered);
            return;
        }
        if (!isFolded) {
            way.addRun(memory, start, length, gathered, hop);
        } else if (!way.addFolded(folded.onward(), memory, start, length, gathered, hop)) {
            addWhole(way, hop, memory, gathered);
        }
    }

    /** Adds folded packets that do not go so any more since the run began, whole. */
    private void addWhole(UdpEgress way, RouteCacheEntry hop, ByteBuffer memory, int gathered) {
        int payload = length - Fold.OCTETS;
        int bytes = folded.octets() + payload;
        for (int i = 0; i < gathered; i++) {
            ByteBuffer room;
            try {
                room = path.memory.reserve(bytes);
            } catch (NoMemoryException e) {
                traffic.drop(DropReason.NO_MEMORY, gathered - i);
                return;
            }
            int at = room.position();
            folded.writeOnward(room, at, bytes);
            room.put(at + folded.octets(), memory, start + i * length + Fold.OCTETS, payload);
            path.memory.commit(bytes);
            way.addRun(room, at, bytes, 1, hop);
        }
    }
}
