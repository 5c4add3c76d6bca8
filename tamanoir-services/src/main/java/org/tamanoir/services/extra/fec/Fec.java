package org.tamanoir.services.extra.fec;

import java.nio.ByteBuffer;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import org.tamanoir.anep.Anep;
import org.tamanoir.anep.Packet;
import org.tamanoir.service.Amplifier;
import org.tamanoir.service.ChangesSize;
import org.tamanoir.service.Counter;
import org.tamanoir.service.Service;
import org.tamanoir.service.ServiceConfig;
import org.tamanoir.service.Setting;
import org.tamanoir.service.SizeEffect;
import org.tamanoir.service.StreamInfo.Transport;
import org.tamanoir.service.Verdict;
import org.tamanoir.services.NextService;
import org.tamanoir.services.extra.Deadlines;
import org.tamanoir.services.extra.FlowTable;
import org.tamanoir.services.extra.Header;
import org.tamanoir.services.extra.MadePacket;

/**
 * Adds repair packets to those of a flow, from which {@link Defec} on a node further on gets back what was lost in
 * between: any m of k + m ({@link ReedSolomon}). A flow is what has the same {@linkplain Header header}.
 *
 * <p>Packets go on at once, 16 bytes longer ({@link FecHeader}). The repairs of a block follow its k-th packet and those
 * that came with it, or come {@code max-delay-ms} after its first: a single packet, which may have a forged source, so
 * becomes 1 + m, and over UDP the operator has to name the service among {@code limits.udp-amplifiers}. Each has as many
 * bytes as the longest packet of the block, 26 of its own, and the header of the last one. With m = 1 repairs are an
 * exclusive or.
 *
 * <p>Counters: {@code packets}, {@code repairs}, {@code repairs-refused} (by the node),
 * {@code blocks}, {@code flows-ended} (for want of room), {@code reports}, {@code loss-permyriad} (of the flow that was
 * reported last, smoothed). Drops: {@code header leaves no room for FEC}, {@code report for no flow of this node}.
 */
@Setting(name = "data", kind = Setting.Kind.NUMBER, standard = "10", min = 1, max = 64, text = "packets of a block, k")
@Setting(
        name = "repair",
        kind = Setting.Kind.NUMBER,
        standard = "3",
        min = 1,
        max = 32,
        text = "repairs of a block, m; the least number where it adapts")
@Setting(
        name = "max-repair",
        kind = Setting.Kind.NUMBER,
        min = 1,
        max = 32,
        text = "repair or more: m goes up to this by what Defec reports as lost; UDP alone; without it repair")
@Setting(
        name = "max-delay-ms",
        kind = Setting.Kind.NUMBER,
        standard = "20",
        min = 1,
        max = 10_000,
        text = "how long a block waits for its k-th packet")
@Setting(
        name = "flows",
        kind = Setting.Kind.NUMBER,
        standard = "1024",
        min = 1,
        max = 65_536,
        text = "flows at once; the block of the one that was silent for longest ends for a new one")
@Setting(
        name = "memory",
        kind = Setting.Kind.NUMBER,
        standard = "67108864",
        min = 4 << 20,
        max = 4L << 30,
        text = "bytes for blocks of all flows; the same way")
@Setting(
        name = "next",
        standard = "org.tamanoir.services.extra.fec.Defec",
        text = "name of the service that the next node shall run; none: the packet names no service from here on")
@ChangesSize(SizeEffect.GROWS)
public final class Fec extends Service implements Amplifier {
    private static final SecureRandom RANDOM = new SecureRandom();

    private final Map<Long, FecFlow> sessions = new HashMap<>();
    private final MadePacket made = new MadePacket();
    private final Symbols symbols = new Symbols();
    private final ArrayDeque<OpenBlock> ended = new ArrayDeque<>();
    private final ArrayDeque<OpenBlock> unused = new ArrayDeque<>();
    private final Runnable send = this::send;
    private FlowTable<FecFlow> flows = new FlowTable<>(1, this::beginFlow, this::endFlow);
    private Deadlines<OpenBlock> waiting = waiting(Duration.ZERO);
    private NextService next = new NextService(0);
    private int maxPacketBytes;
    private int maxData = 1;
    private int leastRepairs = 1;
    private int mostRepairs = 1;
    private long maxMemory;
    private long memory;
    private boolean isSending;
    private Counter packets = new Counter("packets");
    private Counter repairs = new Counter("repairs");
    private Counter repairsRefused = new Counter("repairs-refused");
    private Counter blocks = new Counter("blocks");
    private Counter flowsEnded = new Counter("flows-ended");
    private Counter reports = new Counter("reports");
    private Counter loss = new Counter("loss-permyriad", Counter.Kind.GAUGE);

    @Override
    public void init(ServiceConfig config) {
        config.allow("data", "repair", "max-repair", "max-delay-ms", "flows", "memory", "next");
        maxData = (int) config.number("data", 10, 1, ReedSolomon.MAX_DATA);
        leastRepairs = (int) config.number("repair", 3, 1, ReedSolomon.MAX_REPAIR);
        mostRepairs = (int) config.number("max-repair", leastRepairs, leastRepairs, ReedSolomon.MAX_REPAIR);
        waiting = waiting(
                config.millis("max-delay-ms", Duration.ofMillis(20), Duration.ofMillis(1), Duration.ofSeconds(10)));
        flows = new FlowTable<>((int) config.number("flows", 1024, 1, 65_536), this::beginFlow, this::endFlow);
        maxMemory = config.number("memory", 64 << 20, 4 << 20, 4L << 30);
        next = NextService.of(config, "next", "org.tamanoir.services.extra.fec.Defec");
        maxPacketBytes = stream().transport() == Transport.UDP ? Anep.MAX_DATAGRAM_OCTETS : Anep.MAX_PACKET_OCTETS;
        packets = counter("packets");
        repairs = counter("repairs");
        repairsRefused = counter("repairs-refused");
        blocks = counter("blocks");
        flowsEnded = counter("flows-ended");
        reports = counter("reports");
        loss = counter("loss-permyriad", Counter.Kind.GAUGE);
    }

    @Override
    public Verdict process(Packet packet) {
        if (packet.payloadLength() == FecHeader.REPORT_BYTES && FecHeader.kind(packet) == FecHeader.REPORT) {
            return report(packet.payload());
        }
        int bytes = packet.payloadLength();
        if (packet.headerLength() + next.extraBytes(packet) + FecHeader.REPAIR_BYTES + FecHeader.OWN_BYTES + bytes
                > maxPacketBytes) {
            return drop("header leaves no room for FEC");
        }
        packets.add(1);
        FecFlow flow = flows.of(packet);
        OpenBlock block = flow.block();
        if (block == null) {
            block = flow.begin(unused.isEmpty() ? new OpenBlock() : unused.pop(), maxData);
            waiting.add(block);
        }
        ByteBuffer payload = packet.payload();
        int symbolBytes =
                symbols.write(payload, flows.header().sequence(), flows.header().originNs());
        long before = block.keptBytes();
        int index = block.add(symbols.octets(), symbolBytes, flows.header());
        memory += block.keptBytes() - before;
        ByteBuffer room = packet.newPayload(FecHeader.BYTES + bytes);
        FecHeader.write(room, FecHeader.DATA, index, block.number(), flow.session());
        room.put(payload);
        packet.commitPayload(FecHeader.BYTES + bytes);
        next.name(packet);
        if (block.data() == maxData) {
            end(flow);
        }
        if (!isSending && (memory > maxMemory || !ended.isEmpty())) {
            isSending = execute(send);
            if (!isSending) {
                send();
            }
        }
        return Verdict.FORWARD;
    }

    private FecFlow beginFlow(Header header) {
        FecFlow flow = new FecFlow(header, RANDOM.nextLong(), new RepairNeed(leastRepairs, mostRepairs));
        sessions.put(flow.session(), flow);
        return flow;
    }

    private void endFlow(FecFlow flow) {
        end(flow);
        sessions.remove(flow.session());
        flowsEnded.add(1);
    }

    private void end(FecFlow flow) {
        OpenBlock block = flow.end();
        if (block != null) {
            waiting.remove(block);
            ended.add(block);
        }
    }

    private Deadlines<OpenBlock> waiting(Duration delay) {
        return new Deadlines<>(delay, this::nanoTime, this::after, block -> {
            end(block.flow());
            send();
        });
    }

    /**
     * Sends the repairs of blocks that have ended, behind the packets that were processed with the last one of theirs: in
     * front of it they would stand for it at the far end, and would be counted as caused by it alone.
     */
    private void send() {
        isSending = false;
        sendEnded();
        while (memory > maxMemory && !(unused.isEmpty() && flows.all().isEmpty())) {
            if (unused.isEmpty()) {
                flows.endOldest();
                sendEnded();
            } else {
                memory -= unused.pop().keptBytes();
            }
        }
    }

    private void sendEnded() {
        for (OpenBlock block = ended.poll(); block != null; block = ended.poll()) {
            send(block);
            unused.push(block);
        }
    }

    private void send(OpenBlock block) {
        Header header = block.flow().header();
        int kind = mostRepairs > leastRepairs ? FecHeader.REPAIR_WITH_REPORTS : FecHeader.REPAIR;
        int bytes = FecHeader.REPAIR_BYTES + block.repairBytes();
        for (int repair = 0; repair < block.repairs(); repair++) {
            ByteBuffer room = made.room(header, bytes);
            FecHeader.write(room, kind, repair, block.number(), block.flow().session());
            room.put((byte) block.data()).put((byte) block.repairs()).putShort((short) 0);
            block.writeRepair(repair, room);
            Packet packet = made.finish(header, block.lastSequence(), block.lastOriginNs(), bytes);
            next.name(packet);
            (emit(packet) ? repairs : repairsRefused).add(1);
        }
        blocks.add(1);
    }

    private Verdict report(ByteBuffer payload) {
        FecFlow flow = sessions.get(payload.getLong(payload.position() + Long.BYTES));
        int totals = payload.position() + FecHeader.BYTES;
        if (flow == null || !flow.need().report(payload.getLong(totals), payload.getLong(totals + Long.BYTES))) {
            return drop("report for no flow of this node");
        }
        reports.add(1);
        loss.set(Math.round(flow.need().loss() * 10_000));
        return Verdict.CONSUME;
    }

    @Override
    public void endOfStream() {
        flows.all().forEach(this::end);
        send();
    }
}
