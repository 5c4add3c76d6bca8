package org.tamanoir.services.extra.multicast;

import java.nio.ByteBuffer;
import java.util.List;
import org.tamanoir.anep.Anep;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.anep.PacketSpace;
import org.tamanoir.service.Counter;
import org.tamanoir.services.NextService;
import org.tamanoir.services.extra.multicast.Window.Place;

/**
 * What a node of the tree sends: copies, repairs, what plain receivers get, and what nodes say to each other.
 *
 * <p>Thread contract: one thread.
 */
final class Outlet {
    /** Sends a packet to there; returns false if it may not leave. */
    interface Way {
        boolean send(Peer to, Packet packet);
    }

    private final Way way;
    private final MulticastCounters counts;
    private final NextService next;
    private final List<Peer> receivers;
    private final PacketBuilder controls = new PacketBuilder();
    private final ByteBuffer control =
            ByteBuffer.allocate(MulticastHeader.BYTES + MulticastHeader.MAX_RANGES * MulticastHeader.RANGE_BYTES);
    private final ByteBuffer delivery = ByteBuffer.allocate(Anep.MAX_PACKET_OCTETS);
    private Packet view = new Packet(Anep.DEFAULT_TYPE_ID, PacketSpace.HEAP);
    private int typeId = Anep.DEFAULT_TYPE_ID;

    Outlet(Way way, MulticastCounters counts, MulticastConfig config) {
        this.way = way;
        this.counts = counts;
        next = config.next();
        receivers = config.receivers();
        controls.serviceKey(config.tree().key());
    }

    /** Says which Type ID packets have here. */
    void typeId(int id) {
        if (id != typeId) {
            typeId = id;
            view = new Packet(id, PacketSpace.HEAP);
            controls.typeId(id);
        }
    }

    private void send(Peer to, Packet packet, Counter counted) {
        (way.send(to, packet) ? counted : counts.refused).add(1);
    }

    /** Makes the packet in hand the copy for a branch. */
    void direct(Flow flow, Packet packet, long sequence, Branch branch) {
        MulticastHeader.direct(packet, MulticastHeader.DATA, flow.depth(sequence), branch.token());
        flow.audience().sent(branch);
    }

    /** Sends a branch its copy of the packet in hand. */
    void copy(Flow flow, Packet packet, long sequence, Branch branch) {
        direct(flow, packet, sequence, branch);
        send(branch.peer(), packet, counts.copies);
    }

    /** Sends a branch a packet that is kept. */
    void repair(Flow flow, long sequence, Branch branch) {
        Place place = flow.window().place(sequence);
        view.parse(place.packet(), 0, place.bytes());
        MulticastHeader.direct(view, MulticastHeader.REPAIR, flow.depth(sequence), branch.token());
        if (!place.isRepaired) {
            place.isRepaired = true;
            counts.repaired.add(1);
        }
        send(branch.peer(), view, counts.repairs);
    }

    boolean delivers() {
        return !receivers.isEmpty();
    }

    /** Sends the packet in hand, which is the next in order, to all plain receivers but the last. Returns that one. */
    Peer deliverButLast(Packet packet) {
        strip(packet);
        int last = receivers.size() - 1;
        for (int i = 0; i < last; i++) {
            send(receivers.get(i), packet, counts.delivered);
        }
        return receivers.get(last);
    }

    /** Sends a packet that is kept, and is the next in order, to all plain receivers. */
    void deliver(Place place) {
        if (receivers.isEmpty()) {
            return;
        }
        delivery.put(0, place.packet(), 0, place.bytes());
        view.parse(delivery, 0, place.bytes());
        strip(view);
        for (Peer receiver : receivers) {
            send(receiver, view, counts.delivered);
        }
    }

    private void strip(Packet packet) {
        ByteBuffer payload = packet.payload();
        packet.setPayload(payload.position(payload.position() + MulticastHeader.BYTES));
        next.name(packet);
    }

    /** Tells a branch how far the flow is. */
    void heartbeat(Flow flow, Branch branch) {
        long highest = flow.window().highest();
        say(branch.peer(), MulticastHeader.HEARTBEAT, flow.depth(highest), flow.session(), branch.token(), highest);
        counts.heartbeats.add(1);
    }

    /** Tells a branch that it gets the flow no more. */
    void letGo(Flow flow, Branch branch) {
        say(branch.peer(), MulticastHeader.LEAVE, 0, flow.session(), branch.token(), 0);
    }

    /** Offers one that wishes to join the token to do so with. */
    void offer(Peer to, long nonce, long token) {
        say(to, MulticastHeader.OFFER, 0, nonce, token, 0);
    }

    /** Tells the node above that this one is no branch of it any more. */
    void leave(Peer above, long token) {
        say(above, MulticastHeader.LEAVE, 0, 0, token, 0);
    }

    private void say(Peer to, int kind, int depth, long session, long token, long sequence) {
        MulticastHeader.write(control.clear(), kind, depth, session, token, sequence);
        way.send(to, controls.build(control.flip()));
    }

    /** Asks to join. */
    void join(Peer above, Membership membership, long nowNs) {
        membership.writeJoin(control.clear(), nowNs);
        way.send(above, controls.build(control.flip()));
    }

    /** Tells the node above how far this one is if that is due, and asks for what is missing. Returns whether it did. */
    boolean report(Peer above, Flow flow, long nowNs) {
        control.clear().position(MulticastHeader.BYTES);
        int ranges = flow.gaps().ask(control, nowNs);
        if (ranges == 0 && !flow.isReportDue()) {
            return false;
        }
        control.flip();
        MulticastHeader.write(
                control,
                MulticastHeader.REPORT,
                ranges,
                flow.session(),
                flow.token(),
                flow.gaps().next());
        way.send(above, controls.build(control.rewind()));
        counts.asked.add(ranges > 0 ? 1 : 0);
        flow.reported();
        return true;
    }
}
