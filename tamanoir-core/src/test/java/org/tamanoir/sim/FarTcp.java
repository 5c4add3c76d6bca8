package org.tamanoir.sim;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.Framing;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.ParseFault;

/** A far end of a TCP connection: sends what it has, at its own pace, reads what comes, and ends as it was told. */
final class FarTcp implements SimNet.FarEnd {
    private final Simulation simulation;
    private final SimPipe in;
    private final SimPipe out;
    private final Consumer<Packet> taker;
    private final Consumer<String> faults;
    private final Queue<ByteBuffer> toSend = new ArrayDeque<>();
    private final ByteBuffer held = ByteBuffer.allocate(1 << 18);
    private final long paceNs;
    private final int mostAtOnce;
    private boolean endsWhenSent;
    private boolean endsWithNode;
    private boolean outEnded;
    private boolean stepping;
    /** Reads or writes no more for a while, or for good. */
    private boolean asleep;

    /** Reads no more. */
    private boolean deaf;

    private boolean cut;
    private boolean inEnded;

    FarTcp(
            Simulation simulation,
            SimPipe in,
            SimPipe out,
            Consumer<Packet> taker,
            Consumer<String> faults,
            boolean isCalm) {
        this.simulation = simulation;
        this.in = in;
        this.out = out;
        this.taker = taker;
        this.faults = faults;
        this.paceNs = simulation.random.nextInt(3) == 0 && !isCalm ? simulation.random.nextInt(2_000_000) : 20_000;
        this.mostAtOnce = simulation.random.nextInt(3) == 0 && !isCalm ? 1 + simulation.random.nextInt(2000) : 1 << 17;
        in.onArrival(this::step);
        out.onRoom(this::step);
    }

    /** Sends these bytes behind what waits. */
    void send(ByteBuffer bytes) {
        toSend.add(bytes);
        step();
    }

    /** Ends its side when all is sent. */
    void endWhenSent() {
        endsWhenSent = true;
        step();
    }

    /** Ends its side when the node has ended its own. */
    void endWithNode() {
        endsWithNode = true;
        step();
    }

    /** Breaks the connection. */
    void cut() {
        if (!cut) {
            cut = true;
            out.cut();
            in.cut();
            in.leave();
        }
    }

    /** Does nothing for a while. */
    void sleep(long ns) {
        asleep = true;
        simulation.at(ns, () -> {
            asleep = false;
            step();
        });
    }

    /** Reads at each of so many times, and not between them; what it has to send still goes. */
    void doze(long ns, int times) {
        deaf = true;
        simulation.at(ns, () -> {
            deaf = false;
            if (!isOver()) {
                act();
            }
            if (times > 1) {
                doze(ns, times - 1);
            }
        });
    }

    /** Reads no more; what it has to send still goes. */
    void stall() {
        deaf = true;
    }

    boolean isOver() {
        return cut || in.isCutArrived() || (inEnded && outEnded);
    }

    /** Whether the node has ended its side in order, and all was read. */
    boolean hasEnded() {
        return inEnded && !cut;
    }

    boolean isCut() {
        return cut || in.isCutArrived() || in.isCut();
    }

    /** Returns whether it reads no more, so that what has reached it may lie there. */
    boolean isDeaf() {
        return deaf;
    }

    boolean hasSent() {
        return toSend.isEmpty();
    }

    private void step() {
        if (!stepping && !isOver()) {
            stepping = true;
            simulation.at(simulation.random.nextInt(1 + (int) paceNs), () -> {
                stepping = false;
                if (!asleep && !isOver()) {
                    act();
                }
            });
        }
    }

    private void act() {
        boolean more = false;
        while (in.available() > 0 && !more && !deaf) {
            int read = in.read(held, Math.min(mostAtOnce, held.remaining()));
            take();
            more = read == mostAtOnce;
        }
        ByteBuffer next = toSend.peek();
        while (next != null && out.room() > 0 && !out.isCut()) {
            if (out.write(next) == 0) {
                break;
            }
            if (next.hasRemaining()) {
                more = true;
                break;
            }
            toSend.remove();
            next = toSend.peek();
        }
        if (in.isEnded() && !inEnded) {
            inEnded = true;
            if (held.position() > 0) {
                faults.accept("a connection ended in order with " + held.position() + " bytes of a packet");
            }
        }
        if (!outEnded && toSend.isEmpty() && (endsWhenSent || (endsWithNode && inEnded))) {
            outEnded = true;
            out.end();
        }
        if (more) {
            step();
        }
    }

    private void take() {
        int at = 0;
        int length;
        while ((length = Framing.next(held, at, held.position())) > 0) {
            Packet packet = new Packet();
            @Nullable ParseFault fault = packet.parse(held, at, length);
            if (fault != null) {
                faults.accept("not a packet: " + fault);
                cut();
                return;
            }
            taker.accept(packet);
            at += length;
        }
        if (length == Framing.BROKEN) {
            faults.accept("bytes that are no packet: " + held.getLong(at));
            cut();
            return;
        }
        held.flip().position(at);
        held.compact();
    }
}
