package org.tamanoir.node.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.support.Waiting.eventually;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.client.AnepReceiver;
import org.tamanoir.client.AnepSender;

@Timeout(120)
class DemoCheckTest {
    private static final int PAYLOAD_BYTES = 100;
    private static final int LAST_BYTES = 50;

    private final byte[] content = new byte[2 * PAYLOAD_BYTES + LAST_BYTES];

    @TempDir
    private Path folder;

    @BeforeEach
    void fill() {
        new Random(content.length).nextBytes(content);
    }

    /** Sends the packets with these numbers over UDP; gives what the check says when {@code lost} are missing. */
    private boolean isRight(boolean damaged, long lost, int... numbers) throws IOException {
        DemoFile file = DemoFile.of(Files.write(folder.resolve("sent"), content));
        if (damaged) {
            content[0]++;
        }
        DemoCheck check = new DemoCheck(file, PAYLOAD_BYTES);
        try (AnepReceiver receiver = AnepReceiver.on(new InetSocketAddress(DemoNetwork.loopback(), 0))
                        .udp()
                        .start(() -> check);
                AnepSender sender = AnepSender.udp(receiver.address())) {
            PacketBuilder builder = new PacketBuilder().stream(1);
            for (int number : numbers) {
                int from = number * PAYLOAD_BYTES;
                int bytes = Math.min(PAYLOAD_BYTES, content.length - from);
                sender.send(builder.nextSequence(number), ByteBuffer.wrap(content, from, bytes));
            }
            sender.flush();
            eventually().until(() -> check.packets() == numbers.length);
        }
        return check.isRight(lost);
    }

    @Test
    void theOrderOfDatagramsDoesNotMatter() throws IOException {
        assertThat(isRight(false, 0, 0, 2, 1)).isTrue();
    }

    @Test
    void whatIsMissingIsRightOnlyAsALoss() throws IOException {
        assertThat(isRight(false, 1, 0, 2)).isTrue();
        assertThat(isRight(false, 0, 0, 2)).isFalse();
    }

    @Test
    void aWrongByteIsSeenWithAndWithoutLoss() throws IOException {
        assertThat(isRight(true, 0, 0, 1, 2)).isFalse();
        assertThat(isRight(true, 1, 0, 2)).isFalse();
    }
}
