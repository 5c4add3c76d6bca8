package org.tamanoir.services.extra.fec;

import java.nio.ByteBuffer;
import java.time.Duration;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.ServiceKey;
import org.tamanoir.service.ChangesSize;
import org.tamanoir.service.Counter;
import org.tamanoir.service.Service;
import org.tamanoir.service.ServiceConfig;
import org.tamanoir.service.Setting;
import org.tamanoir.service.Settings;
import org.tamanoir.service.SizeEffect;
import org.tamanoir.service.Verdict;
import org.tamanoir.services.NextService;
import org.tamanoir.services.extra.Header;
import org.tamanoir.services.extra.MadePacket;

/**
 * Gets back what was lost between {@link Fec} and here.
 *
 * <p>Packets that come go on at once, as they were before Fec; nothing waits for one that is missing. A missing one
 * goes on as soon as any k of its block's k + m packets are here: behind those that came meanwhile, and several of a
 * block in their order. What comes twice, or comes after it was got back, is dropped, however late, as long as its block is
 * among the 65,536 that ended last; a reload that changes a setting begins anew. A packet that was got back has the
 * header of the repair, with sequence number and origin time of its own. One that a CRC shows to be wrong, since a packet
 * was altered or a repair lied, is not sent.
 *
 * <p>Counters: {@code packets} (data that came), {@code repairs} (that came), {@code recovered}, {@code
 * recovered-refused} (got back, and refused by the node), {@code unrecovered} (missing when their block ended, as far as a
 * repair has told), {@code corrupt} (got back wrong, and not sent), {@code reports}, {@code reports-refused}.
 *
 * <p>Drops: {@code no FEC header}, {@code bad FEC header} (a number out of its bounds, or lengths that cannot be), {@code
 * contradicts its block}, {@code duplicate}.
 */
@Settings(
        of = NextService.class,
        value = {
            @Setting(
                    name = "block-ms",
                    kind = Setting.Kind.NUMBER,
                    standard = "1000",
                    min = 10,
                    max = 60_000,
                    text = "how long packets of a block are waited for since its first"),
            @Setting(
                    name = "blocks",
                    kind = Setting.Kind.NUMBER,
                    standard = "4096",
                    min = 1,
                    max = 65_536,
                    text = "blocks at once; the oldest one gives way"),
            @Setting(
                    name = "memory",
                    kind = Setting.Kind.NUMBER,
                    standard = "67108864",
                    min = 8 << 20,
                    max = 4L << 30,
                    text = "bytes for packets of blocks that are not whole; the same way"),
            @Setting(
                    name = "report-to",
                    standard = "org.tamanoir.services.extra.fec.Fec",
                    text =
                            "name of the service that reports of loss are for, where it wants them; they go to the source of the flow, twice in block-ms at most; none: no reports")
        })
@ChangesSize(SizeEffect.SHRINKS)
public final class Defec extends Service {
    private static final String BAD = "bad FEC header";
    private static final String CONTRADICTS = "contradicts its block";
    private static final String DUPLICATE = "duplicate";

    private final Header header = new Header();
    private final MadePacket made = new MadePacket();
    private final Solver solver = new Solver();
    private final Reports reportsDue = new Reports();
    private final Runnable look = this::look;
    private Blocks blocks = new Blocks(1, 0, 0, this::end);
    private NextService next = new NextService(0);
    private NextService reportTo = new NextService(0);
    private Duration period = Duration.ZERO;
    private boolean isAwaited;
    private Counter packets = new Counter("packets");
    private Counter repairs = new Counter("repairs");
    private Counter recovered = new Counter("recovered");
    private Counter recoveredRefused = new Counter("recovered-refused");
    private Counter unrecovered = new Counter("unrecovered");
    private Counter corrupt = new Counter("corrupt");
    private Counter reports = new Counter("reports");
    private Counter reportsRefused = new Counter("reports-refused");

    @Override
    public void init(ServiceConfig config) {
        config.allow("block-ms", "blocks", "memory", "report-to", "next");
        Duration age = config.millis("block-ms", Duration.ofSeconds(1), Duration.ofMillis(10), Duration.ofMinutes(1));
        period = age.dividedBy(2);
        blocks = new Blocks(
                (int) config.number("blocks", 4096, 1, 65_536),
                config.number("memory", 64 << 20, 8 << 20, 4L << 30),
                age.toNanos(),
                this::end);
        reportTo = NextService.of(config, "report-to", "org.tamanoir.services.extra.fec.Fec");
        next = NextService.of(config);
        packets = counter("packets");
        repairs = counter("repairs");
        recovered = counter("recovered");
        recoveredRefused = counter("recovered-refused");
        unrecovered = counter("unrecovered");
        corrupt = counter("corrupt");
        reports = counter("reports");
        reportsRefused = counter("reports-refused");
    }

    @Override
    public Verdict process(Packet packet) {
        int kind = FecHeader.kind(packet);
        if (kind == 0) {
            return drop("no FEC header");
        }
        if (!isAwaited) {
            isAwaited = true;
            after(period, look);
        }
        return switch (kind) {
            case FecHeader.DATA -> data(packet);
            case FecHeader.REPAIR, FecHeader.REPAIR_WITH_REPORTS -> repair(packet, kind);
            default -> drop(BAD);
        };
    }

    private Verdict data(Packet packet) {
        ByteBuffer payload = packet.payload();
        int start = payload.position();
        int index = payload.get(start + 3) & 0xFF;
        if (index >= ReedSolomon.MAX_DATA) {
            return drop(BAD);
        }
        Block block = block(payload, start);
        payload.position(start + FecHeader.BYTES);
        if (block.contradicts(index, FecHeader.OWN_BYTES + payload.remaining())) {
            return drop(CONTRADICTS);
        }
        if (block.has(index)) {
            return drop(DUPLICATE);
        }
        packets.add(1);
        header.read(packet);
        blocks.reserve(block, FecHeader.OWN_BYTES + payload.remaining());
        block.add(index, payload, header.sequence(), header.originNs());
        packet.setPayload(payload);
        next.name(packet);
        settle(block, packet);
        return Verdict.FORWARD;
    }

    private Verdict repair(Packet packet, int kind) {
        if (packet.payloadLength() < FecHeader.REPAIR_BYTES + FecHeader.OWN_BYTES) {
            return drop(BAD);
        }
        ByteBuffer payload = packet.payload();
        int start = payload.position();
        int index = payload.get(start + 3) & 0xFF;
        int k = payload.get(start + FecHeader.BYTES) & 0xFF;
        int m = payload.get(start + FecHeader.BYTES + 1) & 0xFF;
        if (k == 0 || k > ReedSolomon.MAX_DATA || m == 0 || m > ReedSolomon.MAX_REPAIR || index >= m) {
            return drop(BAD);
        }
        Block block = block(payload, start);
        payload.position(start + FecHeader.REPAIR_BYTES);
        if (block.contradicts(k, m, payload.remaining())) {
            return drop(CONTRADICTS);
        }
        if (block.hasRepair(index)) {
            return drop(DUPLICATE);
        }
        repairs.add(1);
        blocks.reserve(block, payload.remaining());
        block.addRepair(index, k, m, payload);
        next.name(packet);
        if (kind == FecHeader.REPAIR_WITH_REPORTS && reportTo.key() != ServiceKey.NONE) {
            reportsDue.want(block.session(), header.read(packet));
        }
        settle(block, packet);
        return Verdict.CONSUME;
    }

    private Block block(ByteBuffer payload, int start) {
        return blocks.of(payload.getLong(start + 8), payload.getInt(start + 4), nanoTime());
    }

    /** Sends what can be got back now, with the header of the packet in hand. */
    private void settle(Block block, Packet packet) {
        if (block.isSolvable()) {
            header.read(packet);
            int missing = solver.solve(block);
            for (int i = 0; i < missing; i++) {
                int bytes = solver.payloadBytes(i);
                if (bytes < 0) {
                    corrupt.add(1);
                } else {
                    block.gotBack(solver.data(i));
                    send(solver.octets(), solver.at(i), bytes);
                }
            }
            block.done();
        }
        if (block.isDone()) {
            blocks.release(block);
        }
    }

    private void send(byte[] octets, int at, int bytes) {
        made.room(header, bytes).put(octets, at + FecHeader.OWN_BYTES, bytes);
        Packet packet =
                made.finish(header, FecHeader.ownSequence(octets, at), FecHeader.ownOriginNs(octets, at), bytes);
        (emit(packet) ? recovered : recoveredRefused).add(1);
    }

    private void look() {
        isAwaited = blocks.expire(nanoTime());
        reportsDue.drain(this::report);
        if (isAwaited) {
            after(period, look);
        }
    }

    private void end(Block block) {
        unrecovered.add(block.missing());
        reportsDue.count(block);
    }

    private void report(Reports.Session session) {
        ByteBuffer room = made.room(session.header(), FecHeader.REPORT_BYTES);
        FecHeader.write(room, FecHeader.REPORT, 0, 0, session.id());
        room.putLong(session.expected()).putLong(session.received());
        Packet packet = made.finish(session.header(), 0, 0, FecHeader.REPORT_BYTES);
        if (packet.swapEnds()) {
            reportTo.name(packet);
            (emit(packet) ? reports : reportsRefused).add(1);
        }
    }

    @Override
    public void endOfStream() {
        blocks.endAll();
    }
}
