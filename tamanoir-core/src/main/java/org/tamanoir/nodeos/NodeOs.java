package org.tamanoir.nodeos;

import java.net.InetSocketAddress;
import java.util.List;
import java.util.Set;
import java.util.function.BooleanSupplier;

/**
 * The levels below the Java virtual machine, for one node. They look at packets that cross the host to the node's
 * ports ("in transit": their IP destination is another host) or are addressed to it. Packets of services without a
 * policy go up to the node, with their own source and destination.
 *
 * <p>Thread contract: any thread; {@link #attach} and {@link #close} once each.
 */
public interface NodeOs extends AutoCloseable {
    /** No level but the Java virtual machine. */
    NodeOs NONE = new NoLevels();

    /** Returns all four levels, in their order: those that are there, and why the others are not. */
    List<LevelStatus> levels();

    /**
     * Begins to look at packets.
     *
     * @param udp where the node receives datagrams, with real ports
     * @param tcp where it accepts streams, without TLS
     * @param typeId Tamanoir's ANEP Type ID
     * @throws LevelException if not even one configured level can; nothing is left behind then
     */
    void attach(List<InetSocketAddress> udp, List<InetSocketAddress> tcp, int typeId) throws LevelException;

    /**
     * Upper bits of the mark (SO_MARK) of datagrams that come up from this node's levels; the lower 16 bits are a
     * policy's slot, or 0. The mask is {@link #UP_MASK}. 0 when nothing comes up.
     */
    int upMark();

    /** Bits of a mark that {@link #upMark} is compared with. */
    int UP_MASK = 0xFFF0_0000;

    /** Bits of a mark that are the slot. */
    int SLOT_MASK = 0xFFFF;

    /**
     * Says that packets which came up with this slot have been read from the node's sockets. Called once a batch and
     * thread, and before what {@link #settled} says of them; cheap.
     */
    void arrived(int slot, long packets);

    /**
     * Says that packets which came up with this slot have left the node or ended in it. Called once a batch and thread;
     * cheap.
     */
    void settled(int slot, long packets);

    /** Returns whether a policy handles packets itself as soon as those of this slot have settled. Cheap. */
    boolean isAwaited(int slot);

    /**
     * Waits until no packet is in a level's hands that it found a policy for which is not there any more: those that come
     * from then on go as policies say now. Takes some 10 ms.
     */
    void awaitPassed();

    /**
     * Waits, for 50 ms at most, until what levels have sent on has left the queueing disciplines of this host's devices; more
     * only while the kernel changes devices and does not answer.
     */
    void awaitLeft();

    /** Says that the node's sockets overflowed by so many datagrams more, which may have come up and never settle. */
    void lost(long packets);

    /**
     * Puts a policy to work. One that is ordered handles packets itself when {@link #caughtUp} has said that it may, and
     * all packets that went up since have settled; those of all its keys go up until then.
     *
     * @param serviceKeys whose packets, one at least; for TCP only who asks
     * @param levels where it may: the first in the order xdp, tc, module that is there, enabled, and can do it
     * @param isOrdered whether packets of the flow may be on their way up now, which none is to overtake
     * @throws LevelException with the reason of each level that may and cannot; or because the flow has a policy
     */
    Offload offload(List<Long> serviceKeys, Flow flow, Policy policy, Set<Level> levels, boolean isOrdered)
            throws LevelException;

    /**
     * Puts another policy to work in place of one, at another level perhaps. Each packet goes by one of both, and none by
     * neither; otherwise as {@link #offload}. Between the module and other levels packets go up for a while, so that the
     * policy is ordered in any case.
     *
     * @throws LevelException as {@link #offload}; the policy that it has stays
     */
    void move(Offload offload, Policy policy, Set<Level> levels, boolean isOrdered) throws LevelException;

    /**
     * Has a policy be for packets of other keys, and end for those that are not among them. Packets of a key that is new
     * may be on their way up: the policy is ordered from now on, if it can be.
     *
     * @param serviceKeys perhaps none
     * @throws LevelException if the level cannot take those that are new; the policy is for none of these then
     */
    void follow(Offload offload, List<Long> serviceKeys) throws LevelException;

    /**
     * Returns what says, whenever it is asked, whether all datagrams have been read that waited in the sockets that levels
     * send up to. One thread asks.
     */
    BooleanSupplier awaitRead();

    /** Says that nothing is left in the node that came up before an ordered policy. Idempotent. */
    void caughtUp(Offload offload);

    /** Returns whether packets in transit that have no policy go on, past their service. */
    boolean passesUnknown();

    /** Returns all policies at work. */
    List<Offload> offloads();

    /**
     * Looks at no more datagrams and sends no new connections up: they go on, while the node finishes what has come up.
     * Segments of connections that are up still come. Idempotent.
     */
    void release();

    /** Takes everything away that it has put into the kernel. Idempotent. */
    @Override
    void close();
}
