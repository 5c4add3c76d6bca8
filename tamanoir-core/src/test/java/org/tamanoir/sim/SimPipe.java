package org.tamanoir.sim;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * One direction of a TCP connection: what the writer's system has taken and the reader has not read, at most a window of
 * it, arrives in pieces and after a while; then comes the end, or a reset.
 *
 * <p>Thread contract: whoever has the baton.
 */
final class SimPipe {
    private final Simulation simulation;
    private final SimNet net;
    private final int window;
    private final ArrayDeque<byte[]> arrived = new ArrayDeque<>();
    private int headAt;
    private int arrivedBytes;
    private int takenBytes;
    private long lastArrivalNs;
    private boolean ended;
    private boolean endArrived;
    private boolean cut;
    private boolean cutArrived;
    private boolean deaf;
    private Runnable onArrival = () -> {};
    private Runnable onRoom = () -> {};

    SimPipe(Simulation simulation, SimNet net, int window) {
        this.simulation = simulation;
        this.net = net;
        this.window = window;
    }

    void onArrival(Runnable told) {
        onArrival = told;
    }

    void onRoom(Runnable told) {
        onRoom = told;
    }

    // ---- writer ----------------------------------------------------------------------------------------------------

    int room() {
        return cut ? 0 : deaf ? window : Math.max(0, window - takenBytes);
    }

    /** Takes some of these bytes, and returns how many. */
    int write(ByteBuffer source) {
        int bytes = Math.min(room(), source.remaining());
        if (bytes > 1 && !net.isCalm && simulation.random.nextInt(4) == 0) {
            bytes = 1 + simulation.random.nextInt(bytes);
        }
        if (bytes == 0 || ended) {
            return 0;
        }
        byte[] piece = new byte[bytes];
        source.get(piece);
        takenBytes += bytes;
        arrive(() -> {
            if (!deaf) {
                arrived.add(piece);
                arrivedBytes += piece.length;
            }
        });
        return bytes;
    }

    private void arrive(Runnable what) {
        long atNs = Math.max(lastArrivalNs, simulation.nanoTime() + net.latencyNs());
        lastArrivalNs = atNs;
        simulation.at(atNs - simulation.nanoTime() + simulation.random.nextInt(3), () -> {
            if (!cutArrived) {
                what.run();
                onArrival.run();
            }
        });
        lastArrivalNs += 3;
    }

    void end() {
        if (!ended && !cut) {
            ended = true;
            arrive(() -> endArrived = true);
        }
    }

    /** Breaks it; what has not arrived yet may be lost. */
    void cut() {
        if (!cut) {
            cut = true;
            arrive(() -> cutArrived = true);
        }
    }

    boolean isCut() {
        return cut;
    }

    // ---- reader ----------------------------------------------------------------------------------------------------

    int available() {
        return arrivedBytes;
    }

    /** Reads a random part of what there is, at most as much as there is room for. */
    int read(ByteBuffer target, int most) {
        int read = 0;
        while (target.hasRemaining() && read < most && !arrived.isEmpty()) {
            byte[] head = arrived.getFirst();
            int bytes = Math.min(Math.min(target.remaining(), most - read), head.length - headAt);
            target.put(head, headAt, bytes);
            headAt += bytes;
            read += bytes;
            if (headAt == head.length) {
                arrived.removeFirst();
                headAt = 0;
            }
        }
        arrivedBytes -= read;
        takenBytes -= read;
        if (read > 0) {
            simulation.at(net.latencyNs(), onRoom);
        }
        return read;
    }

    boolean isEnded() {
        return endArrived && arrivedBytes == 0;
    }

    boolean isCutArrived() {
        return cutArrived;
    }

    /** The reader is gone: what comes yet is thrown away. Returns whether something had not been read. */
    boolean leave() {
        boolean unread = arrivedBytes > 0;
        deaf = true;
        arrived.clear();
        arrivedBytes = 0;
        onArrival = () -> {};
        return unread;
    }

    @Nullable
    String state() {
        return arrivedBytes + "/" + takenBytes + (ended ? " ended" : "") + (cut ? " cut" : "");
    }
}
