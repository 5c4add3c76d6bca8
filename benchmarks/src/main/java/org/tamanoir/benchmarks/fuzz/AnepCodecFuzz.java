package org.tamanoir.benchmarks.fuzz;

import java.nio.ByteBuffer;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.ParseFault;

/** The receive rules alone, without sockets: many inputs a second. */
final class AnepCodecFuzz implements FuzzTarget {
    private static final int INPUTS = 1000;
    private static final int MAX_BYTES = 600;

    private final AnepInputs inputs = FuzzNode.inputs();
    private final ByteBuffer memory = ByteBuffer.allocateDirect(4 * MAX_BYTES + 8192);
    private final Packet packet = new Packet();

    @Override
    public String name() {
        return "anep-codec";
    }

    @Override
    public long round(SplittableRandom random) throws FuzzFault {
        for (int i = 0; i < INPUTS; i++) {
            byte[] bytes = inputs.next(random, MAX_BYTES);
            int at = random.nextInt(64);
            memory.put(at, bytes);
            ParseFault expected = AnepReference.fault(bytes);
            ParseFault got = parse(at, bytes);
            if (got != expected) {
                throw new FuzzFault(
                        "parsed as " + got + ", by the reference " + expected + ": " + Deliveries.hex(bytes));
            }
        }
        return INPUTS;
    }

    private @Nullable ParseFault parse(int at, byte[] bytes) throws FuzzFault {
        try {
            return packet.parse(memory, at, bytes.length);
        } catch (RuntimeException e) {
            throw new FuzzFault("threw: " + Deliveries.hex(bytes), e);
        }
    }

    @Override
    public void close() {}
}
