package org.tamanoir.message;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.Packet;
import org.tamanoir.format.FormatId;
import org.tamanoir.service.Allowance;

/**
 * Packets that wait for formats, and those behind them in their streams: over TCP all of the stream, over UDP those of a
 * source and stream id. Bounded in bytes, packets, formats and time.
 *
 * <p>Thread contract: the service's thread.
 */
final class FormatHold {
    /** A packet that waits, and what may leave on account of it. */
    record Held(Packet packet, int messages, Allowance allowance) {}

    /** The packets of a stream that wait. */
    static final class Flow {
        final FlowKey key;
        final Deque<Held> packets = new ArrayDeque<>();
        FormatId waitsFor;
        long sinceNs;

        Flow(FlowKey key, FormatId waitsFor, long nowNs) {
            this.key = key;
            this.waitsFor = waitsFor;
            this.sinceNs = nowNs;
        }
    }

    /** For so long nobody is asked again for a format that nobody had. */
    private static final long REFUSED_NS = 1_000_000_000L;

    private static final int REFUSED = 64;

    private final MessageSettings settings;
    private final boolean oneFlow;
    private final Map<FlowKey, Flow> flows = new LinkedHashMap<>();
    /** Since when, for each format that is asked for. */
    private final Map<FormatId, Long> asked = new LinkedHashMap<>();

    private final Map<FormatId, Long> refused = new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<FormatId, Long> eldest) {
            return size() > REFUSED;
        }
    };

    private final FlowKey probe = new FlowKey();
    private long bytes;
    private int packets;

    FormatHold(MessageSettings settings, boolean oneFlow) {
        this.settings = settings;
        this.oneFlow = oneFlow;
    }

    boolean isEmpty() {
        return flows.isEmpty();
    }

    private FlowKey key(Packet packet) {
        return oneFlow ? probe.clear() : probe.set(packet);
    }

    /** Returns the stream whose packets wait, in which this one has to as well; null if there is none. */
    @Nullable
    Flow flow(Packet packet) {
        return flows.isEmpty() ? null : flows.get(key(packet));
    }

    /** Returns the stream of this packet, which waits for a format from now on. */
    Flow block(Packet packet, FormatId format, long nowNs) {
        Flow flow = new Flow(new FlowKey().set(key(packet)), format, nowNs);
        flows.put(flow.key, flow);
        return flow;
    }

    /** Returns whether a packet of so many bytes may wait, too. */
    boolean hasRoom(int more) {
        return packets < settings.holdPackets() && bytes + more <= settings.holdBytes();
    }

    /** Keeps a copy of a packet; false if there is no room. */
    boolean add(Flow flow, Packet packet, int messages, Allowance allowance) {
        if (!hasRoom(packet.length())) {
            if (flow.packets.isEmpty()) {
                flows.remove(flow.key);
            }
            return false;
        }
        packets++;
        bytes += packet.length();
        flow.packets.add(new Held(packet.copy(), messages, allowance.keep()));
        return true;
    }

    /** Returns whether a format may be asked for; then it is noted, and has to be where this says so anew. */
    boolean mayAsk(FormatId format) {
        return asked.containsKey(format) || asked.size() < settings.holdFormats();
    }

    /** Notes that a format is asked for; false if it was already. */
    boolean ask(FormatId format, long nowNs) {
        return asked.putIfAbsent(format, nowNs) == null;
    }

    /** Notes that asking has ended. */
    void answered(FormatId format, boolean known, long nowNs) {
        asked.remove(format);
        if (!known) {
            refused.put(format, nowNs);
        }
    }

    /** Returns whether nobody had the format just now. */
    boolean isRefused(FormatId format, long nowNs) {
        Long since = refused.get(format);
        return since != null && nowNs - since < REFUSED_NS;
    }

    /** Returns the streams that wait for a format. */
    List<Flow> waitingFor(FormatId format) {
        List<Flow> waiting = new ArrayList<>();
        for (Flow flow : flows.values()) {
            if (flow.waitsFor.equals(format)) {
                waiting.add(flow);
            }
        }
        return waiting;
    }

    /** Takes the first packet off; the stream waits no more when it was the last. */
    void taken(Flow flow) {
        Held held = flow.packets.remove();
        packets--;
        bytes -= held.packet.length();
        if (flow.packets.isEmpty()) {
            flows.remove(flow.key);
        }
    }

    /** Returns the format that was asked for longest ago; null if there is none. */
    @Nullable
    FormatId eldest() {
        return asked.isEmpty() ? null : asked.keySet().iterator().next();
    }

    /** Returns when asking for that ends. */
    long eldestEndsNs() {
        return asked.values().iterator().next() + settings.holdNs();
    }

    long heldBytes() {
        return bytes;
    }
}
