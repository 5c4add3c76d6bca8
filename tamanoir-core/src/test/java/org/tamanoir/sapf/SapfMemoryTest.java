package org.tamanoir.sapf;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.tamanoir.transport.BatchMemory;
import org.tamanoir.transport.Buffer;
import org.tamanoir.transport.UdpSocket;

/** Two ends of which one finds no memory for messages about selectors. */
class SapfMemoryTest {
    private static final byte[] PACKET = SapfEnd.packet(1, "a");

    private final AtomicLong clockNs = new AtomicLong(1);
    private final AtomicBoolean isShort = new AtomicBoolean();
    private SapfEnd node;
    private SapfEnd sender;

    @BeforeEach
    void open() throws IOException {
        node = SapfEnd.over(scarce(), clockNs);
        sender = SapfEnd.over(scarce(), clockNs, node.address());
    }

    @AfterEach
    void close() {
        node.close();
        sender.close();
    }

    private UdpSocket scarce() throws IOException {
        UdpSocket real = SapfEnd.bind(0);
        return (UdpSocket) Proxy.newProxyInstance(
                UdpSocket.class.getClassLoader(), new Class<?>[] {UdpSocket.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals("newSender") && isShort.get()) {
                        throw new OutOfMemoryError("Cannot reserve 27232 bytes of direct buffer memory");
                    }
                    return method.invoke(real, arguments);
                });
    }

    @Test
    void whoLacksMemoryToAskSendsAllAsAnepUntilThereIsSome() throws IOException {
        isShort.set(true);
        for (int i = 0; i < 3; i++) {
            sender.send(node, PACKET);
            assertThat(node.exchange(sender, 1)).containsExactly(PACKET);
        }
        isShort.set(false);
        clockNs.addAndGet(Duration.ofSeconds(1).toNanos());
        sender.bind(node, PACKET);
        sender.send(node, PACKET);
        assertThat(node.exchange(sender, 1)).containsExactly(PACKET);
        assertThat(sender.sapf.statistics().packetsOut()).isOne();
    }

    @Test
    void whatLeavesBySelectorTakesMemoryThatOthersHaveWhenItHasLeft() throws IOException {
        int most = 512 << 10;
        BatchMemory memory = new BatchMemory(most);
        try (SapfEnd asking = SapfEnd.between(clockNs, node.address(), memory)) {
            asking.bind(node, PACKET);
            asking.send(node, PACKET);
            assertThat(node.exchange(asking, 1)).containsExactly(PACKET);
            assertThat(asking.sapf.statistics().packetsOut()).isOne();
            Buffer all = requireNonNull(memory.larger(null, 0, most));
            asking.send(node, PACKET);
            assertThat(node.exchange(asking, 1)).as("as ANEP").containsExactly(PACKET);
            assertThat(asking.sapf.statistics().packetsOut()).isOne();
            memory.give(all);
            asking.send(node, PACKET, PACKET);
            assertThat(node.exchange(asking, 2)).containsExactly(PACKET, PACKET);
            assertThat(asking.sapf.statistics().packetsOut()).isEqualTo(3);
        }
    }

    @Test
    void whatIsForgottenLeavesItsMemoryToOthers() throws IOException {
        int most = 512 << 10;
        BatchMemory memory = new BatchMemory(most);
        try (SapfEnd asking = SapfEnd.between(clockNs, node.address(), memory)) {
            asking.bind(node, PACKET);
            for (int i = 0; i < 10; i++) {
                asking.discard(node, SapfEnd.packet(1, "forgotten"));
            }
            assertThat(memory.larger(null, 0, most)).as("all of it").isNotNull();
        }
    }

    @Test
    void whoIsAskedHasTheMemoryToAnswerFromTheStart() throws IOException {
        sender.send(node, PACKET);
        assertThat(node.receive()).containsExactly(PACKET);
        isShort.set(true);
        sender.send(node, PACKET, PACKET);
        assertThat(node.exchange(sender, 2)).containsExactly(PACKET, PACKET);
        assertThat(sender.sapf.statistics().asked()).isOne();
    }
}
