package org.tamanoir.benchmarks.fuzz;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.Socket;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.ParseFault;
import org.tamanoir.benchmarks.Threads;

/**
 * Connections to a live node: packets in pieces of any size, many in one piece, damaged, cut at the end. Each service
 * of a stream has connections of its own, so order is not compared between far ends.
 */
final class AnepTcpFuzz implements FuzzTarget {
    private static final int MAX_PACKETS = 60;
    private static final int MAX_PACKET = 65_535;
    private static final int READ_TIMEOUT_MS = 30_000;
    private static final double PATIENCE_S = 30;

    private final AnepInputs inputs = FuzzNode.inputs();
    private final StreamEnds host = new StreamEnds();
    private final StreamEnds nextNode = new StreamEnds();
    private final FuzzNode node;

    AnepTcpFuzz() throws IOException {
        node = new FuzzNode(host.address(), nextNode.address());
    }

    @Override
    public String name() {
        return "anep-tcp";
    }

    @Override
    public long round(SplittableRandom random) throws Exception {
        byte[] stream = stream(random);
        Deliveries deliveries = expected(stream);
        try {
            send(random, stream);
            node.expect(deliveries.packets(), deliveries.leaving(), deliveries.drops, true);
            receive(deliveries);
            deliveries.check();
        } catch (FuzzFault e) {
            throw new FuzzFault(
                    e.getMessage() + "; the stream: " + java.util.HexFormat.of().formatHex(stream), e);
        }
        return deliveries.packets();
    }

    /** A damaged basic header ends a stream, so most streams have none. */
    private byte[] stream(SplittableRandom random) {
        boolean isFramed = random.nextInt(4) != 0;
        ByteArrayOutputStream stream = new ByteArrayOutputStream();
        for (int packets = 1 + random.nextInt(MAX_PACKETS); packets > 0; packets--) {
            byte[] packet = inputs.next(random, random.nextInt(60) == 0 ? MAX_PACKET : 400);
            if (isFramed && (packet.length < 8 || isBroken(packet))) {
                continue;
            }
            if (isFramed) {
                packet = Arrays.copyOf(packet, AnepReference.claimed(packet, 0));
            }
            stream.writeBytes(packet);
        }
        byte[] bytes = stream.toByteArray();
        return random.nextInt(8) == 0 ? Arrays.copyOf(bytes, random.nextInt(bytes.length + 1)) : bytes;
    }

    private static boolean isBroken(byte[] packet) {
        ParseFault fault = AnepReference.fault(packet);
        return fault == ParseFault.VERSION || fault == ParseFault.HEADER_LENGTH;
    }

    /** One packet after the other, until one is not whole or its basic header says nothing of where the next begins. */
    private Deliveries expected(byte[] stream) {
        Deliveries deliveries = new Deliveries();
        int at = 0;
        while (at < stream.length) {
            byte[] rest = Arrays.copyOfRange(stream, at, Math.min(stream.length, at + MAX_PACKET));
            AnepReference.Outcome outcome = node.reference.decide(rest, MAX_PACKET);
            DropReason reason = outcome.reason();
            if (reason == DropReason.SHORT || reason == DropReason.TRUNCATED) {
                deliveries.expect(AnepReference.Outcome.dropped(DropReason.TRUNCATED));
                break;
            }
            deliveries.expect(outcome);
            if (reason == DropReason.VERSION || reason == DropReason.HEADER_LENGTH) {
                break;
            }
            at += AnepReference.claimed(stream, at);
        }
        return deliveries;
    }

    private void send(SplittableRandom random, byte[] stream) throws IOException, FuzzFault {
        try (Socket socket = new Socket()) {
            socket.connect(node.environment.tcpAddresses().get(0), READ_TIMEOUT_MS);
            socket.setTcpNoDelay(true);
            socket.setSoTimeout(READ_TIMEOUT_MS);
            int most = 1 << random.nextInt(1, 17);
            boolean pauses = random.nextInt(4) == 0 && stream.length / most < 200;
            for (int at = 0; at < stream.length; ) {
                int bytes = Math.min(stream.length - at, 1 + random.nextInt(most));
                socket.getOutputStream().write(stream, at, bytes);
                at += bytes;
                if (pauses) {
                    Threads.pause(1e-4);
                }
            }
            socket.shutdownOutput();
            if (socket.getInputStream().readAllBytes().length > 0) {
                throw new FuzzFault("the node answered, and no service does");
            }
        } catch (java.net.SocketTimeoutException e) {
            throw new FuzzFault("the node did not end the connection in " + READ_TIMEOUT_MS + " ms", e);
        } catch (IOException e) {
            // It closed the connection behind a broken header: its counts say whether that was right.
        }
    }

    private void receive(Deliveries deliveries) throws FuzzFault, IOException {
        long bytes = deliveries.leavingBytes();
        Threads.await(PATIENCE_S, 0.1, () -> host.bytes() + nextNode.bytes() >= bytes);
        arrived(deliveries, 0, host.take());
        arrived(deliveries, 1, nextNode.take());
    }

    private static void arrived(Deliveries deliveries, int farEnd, List<byte[]> connections) throws FuzzFault {
        for (byte[] bytes : connections) {
            int length;
            for (int at = 0; at < bytes.length; at += length) {
                length = bytes.length - at < 8 ? 0 : AnepReference.claimed(bytes, at);
                if (length < 8 || at + length > bytes.length) {
                    throw new FuzzFault("far end " + farEnd + " got what is no packet: "
                            + Deliveries.hex(Arrays.copyOfRange(bytes, at, bytes.length)));
                }
                deliveries.arrived(farEnd, Arrays.copyOfRange(bytes, at, at + length));
            }
        }
    }

    @Override
    public void close() throws IOException {
        node.close();
        host.close();
        nextNode.close();
    }
}
