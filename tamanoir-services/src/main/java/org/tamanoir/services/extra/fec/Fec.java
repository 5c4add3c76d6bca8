package org.tamanoir.services.extra.fec;

import java.nio.ByteBuffer;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.tamanoir.anep.Anep;
import org.tamanoir.anep.Packet;
import org.tamanoir.service.Counter;
import org.tamanoir.service.Service;
import org.tamanoir.service.ServiceConfig;
import org.tamanoir.service.StreamInfo.Transport;
import org.tamanoir.service.Verdict;
import org.tamanoir.services.NextService;
import org.tamanoir.services.extra.FlowTable;
import org.tamanoir.services.extra.Header;
import org.tamanoir.services.extra.MadePacket;

/**
 * Adds repair packets to those of a flow, from which {@link Defec} on a node further on gets back what was lost in
 * between: any m of k + m ({@link ReedSolomon}). A flow is what has the same {@linkplain Header header}.
 *
 * <p>Packets go on at once, 16 bytes longer ({@link FecHeader}). The repairs of a block follow its k-th packet, or come
 * {@code max-delay-ms} after its first. Each has as many bytes as the longest packet of the block, 26 of its own, and the
 * header of the last one. With m = 1 repairs are an exclusive or.
 *
 * <table><caption>Settings</caption>
 * <tr><th>name</th><th>default</th><th>allowed</th></tr>
 * <tr><td>{@code data}</td><td>10</td><td>1 to 64: packets of a block, k</td></tr>
 * <tr><td>{@code repair}</td><td>3</td><td>1 to 32: repairs of a block, m; the least number where it adapts</td></tr>
 * <tr><td>{@code max-repair}</td><td>that of {@code repair}</td><td>{@code repair} to 32: m goes up to this by what
 * {@link Defec} reports as lost ({@link RepairNeed}); UDP alone</td></tr>
 * <tr><td>{@code max-delay-ms}</td><td>20</td><td>1 to 10,000: how long a block waits for its k-th packet</td></tr>
 * <tr><td>{@code flows}</td><td>1024</td><td>1 to 65,536: flows at once; the block of the one that was silent for longest
 * ends for a new one</td></tr>
 * <tr><td>{@code memory}</td><td>64 MiB</td><td>4 MiB to 4 GiB, in bytes: for blocks of all flows; the same way</td></tr>
 * <tr><td>{@code next}</td><td>{@code org.tamanoir.services.extra.fec.Defec}</td><td>name of the service that the next
 * node shall run; {@code none}: the packet names no service from here on</td></tr>
 * </table>
 *
 * <p>Counters: {@code packets}, {@code repairs}, {@code repairs-refused} (by the node's bound on what a datagram causes),
 * {@code blocks}, {@code flows-ended} (for want of room), {@code reports}, {@code loss-permyriad} (of the flow that was
 * reported last, smoothed). Drops: {@code header leaves no room for FEC}, {@code report for no flow of this node}.
 */
public final class Fec extends Service {
    private static final SecureRandom RANDOM = new SecureRandom();

    private final Map<Long, FecFlow> sessions = new HashMap<>();
    private final MadePacket made = new MadePacket();
    private final Runnable look = this::look;
    private FlowTable<FecFlow> flows = new FlowTable<>(1, this::begin, this::end);
    private NextService next = new NextService(0);
    private int maxPacketBytes;
    private int maxData = 1;
    private int leastRepairs = 1;
    private int mostRepairs = 1;
    private long maxDelayNs;
    private long maxMemory;
    private long memory;
    private boolean isAwaited;
    private Counter packets = new Counter("packets");
    private Counter repairs = new Counter("repairs");
    private Counter repairsRefused = new Counter("repairs-refused");
    private Counter blocks = new Counter("blocks");
    private Counter flowsEnded = new Counter("flows-ended");
    private Counter reports = new Counter("reports");
    private Counter loss = new Counter("loss-permyriad");

    @Override
    public void init(ServiceConfig config) {
        config.allow("data", "repair", "max-repair", "max-delay-ms", "flows", "memory", "next");
        maxData = (int) config.number("data", 10, 1, ReedSolomon.MAX_DATA);
        leastRepairs = (int) config.number("repair", 3, 1, ReedSolomon.MAX_REPAIR);
        mostRepairs = (int) config.number("max-repair", leastRepairs, leastRepairs, ReedSolomon.MAX_REPAIR);
        maxDelayNs = config.millis(
                        "max-delay-ms", Duration.ofMillis(20), Duration.ofMillis(1), Duration.ofSeconds(10))
                .toNanos();
        flows = new FlowTable<>((int) config.number("flows", 1024, 1, 65_536), this::begin, this::end);
        maxMemory = config.number("memory", 64 << 20, 4 << 20, 4L << 30);
        next = NextService.of(config, "next", "org.tamanoir.services.extra.fec.Defec");
        maxPacketBytes =
                stream().transport() == Transport.UDP ? Anep.MAX_DATAGRAM_OCTETS : Anep.MAX_PACKET_OCTETS;
        packets = counter("packets");
        repairs = counter("repairs");
        repairsRefused = counter("repairs-refused");
        blocks = counter("blocks");
        flowsEnded = counter("flows-ended");
        reports = counter("reports");
        loss = counter("loss-permyriad");
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
        ByteBuffer payload = packet.payload();
        long before = flow.keptBytes();
        flow.add(payload, flows.header(), nanoTime());
        memory += flow.keptBytes() - before;
        ByteBuffer room = packet.newPayload(FecHeader.BYTES + bytes);
        FecHeader.write(room, FecHeader.DATA, flow.data() - 1, flow.block(), flow.session());
        room.put(payload);
        packet.commitPayload(FecHeader.BYTES + bytes);
        next.name(packet);
        Verdict verdict = Verdict.FORWARD;
        if (flow.isFull()) {
            // In front of the packet its repairs would stand for it at the far end, so it is sent here, before them.
            verdict = emit(packet) ? Verdict.CONSUME : Verdict.FORWARD;
            endBlock(flow);
        } else if (!isAwaited) {
            isAwaited = true;
            after(Duration.ofNanos(maxDelayNs), look);
        }
        while (memory > maxMemory && flows.all().size() > 1) {
            flows.endOldest();
        }
        return verdict;
    }

    private FecFlow begin(Header header) {
        FecFlow flow = new FecFlow(header, RANDOM.nextLong(), maxData, new RepairNeed(leastRepairs, mostRepairs));
        sessions.put(flow.session(), flow);
        memory += flow.keptBytes();
        return flow;
    }

    private void end(FecFlow flow) {
        endBlock(flow);
        sessions.remove(flow.session());
        memory -= flow.keptBytes();
        flowsEnded.add(1);
    }

    /** Ends the blocks that have waited for long enough, and comes again for the others. */
    private void look() {
        isAwaited = false;
        long nowNs = nanoTime();
        long longestNs = -1;
        for (FecFlow flow : flows.all()) {
            if (flow.data() > 0 && nowNs - flow.beganNs() >= maxDelayNs) {
                endBlock(flow);
            } else if (flow.data() > 0) {
                longestNs = Math.max(longestNs, nowNs - flow.beganNs());
            }
        }
        if (longestNs >= 0) {
            isAwaited = true;
            after(Duration.ofNanos(maxDelayNs - longestNs), look);
        }
    }

    /** Sends the repairs of what the block has, if anything. */
    private void endBlock(FecFlow flow) {
        if (flow.data() == 0) {
            return;
        }
        int kind = mostRepairs > leastRepairs ? FecHeader.REPAIR_WITH_REPORTS : FecHeader.REPAIR;
        int bytes = FecHeader.REPAIR_BYTES + flow.repairBytes();
        for (int repair = 0; repair < flow.repairs(); repair++) {
            ByteBuffer room = made.room(flow.header(), bytes);
            FecHeader.write(room, kind, repair, flow.block(), flow.session());
            room.put((byte) flow.data()).put((byte) flow.repairs()).putShort((short) 0);
            flow.writeRepair(repair, room);
            Packet packet = made.finish(flow.header(), flow.lastSequence(), flow.lastOriginNs(), bytes);
            next.name(packet);
            (emit(packet) ? repairs : repairsRefused).add(1);
        }
        blocks.add(1);
        flow.nextBlock();
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
        flows.all().forEach(this::endBlock);
    }
}
