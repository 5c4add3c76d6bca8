package org.tamanoir.sim;

import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import org.tamanoir.anep.Packet;
import org.tamanoir.service.Service;
import org.tamanoir.service.ServiceConfig;
import org.tamanoir.service.Verdict;

/** A service that does what each packet says. */
final class SimService extends Service {
    private final Simulation simulation;
    private final InetAddress elsewhere;
    private final boolean isEager;
    private final boolean isCalm;
    private final SimHolds holds;

    SimService(Simulation simulation, boolean isCalm, InetAddress elsewhere, SimHolds holds, List<SimService> made) {
        this.simulation = simulation;
        this.holds = holds;
        this.isCalm = isCalm;
        this.elsewhere = elsewhere;
        this.isEager = simulation.random.nextInt(4) == 0;
        made.add(this);
        if (simulation.random.nextInt(6) == 0) {
            simulation.work(simulation.random.nextInt(3_000_000));
        }
        if (!isCalm && simulation.random.nextInt(60) == 0) {
            throw new IllegalStateException("a constructor that fails");
        }
    }

    @Override
    public void init(ServiceConfig config) {
        if (isEager) {
            every(Duration.ofMillis(20), () -> counter("ticks").add(1));
        }
        if (!isCalm && simulation.random.nextInt(40) == 0) {
            throw new IllegalStateException("a beginning that fails");
        }
    }

    @Override
    public Verdict process(Packet packet) throws InterruptedException {
        Content content = Content.read(packet);
        simulation.note("processes", content.number());
        if (content.action() != Content.Action.PACE) {
            simulation.pause();
        }
        if (content.action() != Content.Action.PACE && simulation.random.nextInt(simulation.isCrowded ? 2 : 8) == 0) {
            simulation.work(1_000 + simulation.random.nextInt(simulation.isCrowded ? 300_000 : 20_000));
        }
        return switch (content.action()) {
            case FORWARD -> Verdict.FORWARD;
            case MARK -> {
                content.marked().write(packet.payload());
                yield Verdict.FORWARD;
            }
            case GROW -> resize(packet, content, packet.payloadLength() + 1 + (content.argument() & 0x7F) * 8);
            case SHRINK -> resize(packet, content, Math.max(Content.HEAD, packet.payloadLength() / 2));
            case REPLY -> Verdict.REPLY;
            case CONSUME -> Verdict.CONSUME;
            case DROP -> drop("as told");
            case CLOSE -> closeStream("as told");
            case RESET -> resetStream("as told");
            case EMIT -> {
                for (int i = 1; i <= 1 + (content.argument() & 3); i++) {
                    Packet copy = packet.copy();
                    content.made(i).write(copy.payload());
                    emit(copy);
                    simulation.pause();
                }
                yield Verdict.FORWARD;
            }
            case ELSEWHERE -> forwardTo(elsewhere, 4000);
            case SLOW -> {
                simulation.work((content.argument() & 0x7F) * 100_000L);
                yield Verdict.FORWARD;
            }
            case PACE -> {
                simulation.work(content.argument() * 1_000L);
                simulation.sleep((100 - content.argument()) * 1_000L, false);
                yield Verdict.FORWARD;
            }
            case HOLD -> holds.hold(this, content, atMost -> hold(packet, atMost));
            case THROW -> throw new IllegalStateException("as told");
            case STUCK -> {
                boolean obeys = (content.argument() & 1) == 0;
                boolean isLost = !obeys && (content.argument() & 8) != 0;
                long ns = isLost ? 40_000_000_000L : 500_000_000L + (content.argument() & 7) * 500_000_000L;
                if (!simulation.sleep(ns, obeys)) {
                    throw new InterruptedException();
                }
                yield Verdict.FORWARD;
            }
        };
    }

    private static Verdict resize(Packet packet, Content content, int bytes) {
        ByteBuffer payload = packet.newPayload(bytes);
        content.marked().write(payload.duplicate().limit(payload.position() + bytes));
        packet.commitPayload(bytes);
        return Verdict.FORWARD;
    }

    @Override
    public void endOfStream() {
        simulation.pause();
    }

    @Override
    public void close() {
        simulation.pause();
    }
}
