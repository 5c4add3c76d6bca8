package org.tamanoir.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class UpSocketsTest {
    private static final int OWN = 17;
    private static final int OWN_TOO = 18;
    private static final int FORMER_NODES = 19;

    @TempDir
    Path folder;

    /** Ports 3322, 53, and 3322 of another process in /proc/net/udp: so many bytes wait at each. */
    private void waiting(int own, int ownToo, int formerNodes) throws IOException {
        Files.writeString(
                list(),
                "   sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode ref drops"
                        + line("00000000:0CFA", own, OWN)
                        + line("0100007F:0035", ownToo, OWN_TOO)
                        + line("00000000:0CFA", formerNodes, FORMER_NODES));
    }

    private static String line(String address, int bytes, int inode) {
        return String.format(
                "%n  412: %s 00000000:0000 07 00000000:%08X 00:00000000 00000000     0        0 %d 2 ff11 0",
                address, bytes, inode);
    }

    private Path list() {
        return folder.resolve("udp");
    }

    private UpSockets sockets(Integer... ports) throws IOException {
        Path descriptors = Files.createDirectories(folder.resolve("fd"));
        Files.createSymbolicLink(descriptors.resolve("0"), Path.of("pipe:[" + FORMER_NODES + "]"));
        Files.createSymbolicLink(descriptors.resolve("5"), Path.of("socket:[" + OWN + "]"));
        Files.createSymbolicLink(descriptors.resolve("6"), Path.of("socket:[" + OWN_TOO + "]"));
        return new UpSockets(Set.of(ports), List.of(list(), folder.resolve("udp6")), descriptors);
    }

    @Test
    void looksAtThePortsOfTheNodeAlone() throws IOException {
        UpSockets sockets = sockets(3322);
        waiting(0, 0x300, 0);
        assertThat(sockets.areEmpty()).isTrue();
        waiting(0x300, 0, 0);
        assertThat(sockets.areEmpty()).isFalse();
    }

    @Test
    void aSocketOfAnotherProcessHoldsNothingUp() throws IOException {
        UpSockets sockets = sockets(3322);
        waiting(0, 0, 0x300);
        assertThat(sockets.areEmpty()).isTrue();
        assertThat(sockets.awaitRead().getAsBoolean()).isTrue();
    }

    @Test
    void eachIsReadWhenItWasSeenEmptyOnce() throws IOException {
        UpSockets sockets = sockets(3322, 53);
        BooleanSupplier areRead = sockets.awaitRead();
        waiting(1, 1, 1);
        assertThat(areRead.getAsBoolean()).isFalse();
        waiting(0, 1, 1);
        assertThat(areRead.getAsBoolean()).isFalse();
        waiting(1, 0, 1);
        assertThat(areRead.getAsBoolean()).isTrue();
        assertThat(sockets.areEmpty()).isFalse();
    }

    @Test
    void whereNothingCanBeReadAllMayWait() throws IOException {
        UpSockets sockets = sockets(3322);
        assertThat(sockets.areEmpty()).isFalse();
        assertThat(sockets.awaitRead().getAsBoolean()).isFalse();
    }

    @Test
    void seesWhatWaitsInASocket() throws Exception {
        InetAddress loopback = InetAddress.getByName("127.0.0.1");
        try (DatagramSocket socket = new DatagramSocket(new InetSocketAddress(loopback, 0))) {
            UpSockets sockets = new UpSockets(Set.of(socket.getLocalPort()));
            assertThat(sockets.areEmpty()).isTrue();
            socket.send(new DatagramPacket(new byte[1], 1, loopback, socket.getLocalPort()));
            assertThat(sockets.areEmpty()).isFalse();
            socket.receive(new DatagramPacket(new byte[1], 1));
            assertThat(sockets.areEmpty()).isTrue();
        }
    }
}
