package org.tamanoir.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.tamanoir.support.Seeds;
import org.tamanoir.support.Tiers;

/** Against families that every kernel has. */
class NetlinkTest {
    private static final int CONTROL = 16;
    private static final int GET_FAMILY = 3;
    private static final int FAMILY_NAME = 2;

    @BeforeEach
    void requireLinux() {
        Tiers.require("native", System.getProperty("os.name").equals("Linux"), "needs Linux");
    }

    @Test
    void aFamilyIsFoundByName() throws Exception {
        try (GenericNetlink control = GenericNetlink.open("nlctrl")) {
            List<ByteBuffer> answers = control.call(control.request(GET_FAMILY).attribute(FAMILY_NAME, "nlctrl"));

            assertThat(answers).hasSize(1);
            assertThat(text(answers.get(0))).isEqualTo("nlctrl");
        }
    }

    @Test
    void aFamilyThatIsNotThereIsSaidByErrno() {
        NetlinkException absent =
                catchThrowableOfType(NetlinkException.class, () -> GenericNetlink.open("no-such-family"));

        assertThat(absent.errno()).isEqualTo(LibC.ENOENT);
        assertThat(absent).hasMessageStartingWith("generic netlink: ").hasMessageContaining("No such file");
    }

    @Test
    void theKernelsOwnWordsStandInTheError() throws Exception {
        try (NetlinkSocket socket = NetlinkSocket.open(NetlinkSocket.GENERIC)) {
            NetlinkRequest tooShort = new NetlinkRequest(CONTROL, NetlinkRequest.ACK)
                    .header(GET_FAMILY, 1, 0, 0)
                    .attributeByte(1, 7);

            assertThatThrownBy(() -> socket.exchange(tooShort))
                    .isInstanceOf(NetlinkException.class)
                    .hasMessageContaining("ttribute")
                    .hasMessageContaining("(");
        }
    }

    @Test
    void aListComesInParts() throws Exception {
        try (NetlinkSocket socket = NetlinkSocket.open(NetlinkSocket.GENERIC)) {
            for (int again = 0; again < 3; again++) {
                List<ByteBuffer> families =
                        socket.exchange(new NetlinkRequest(CONTROL, NetlinkRequest.DUMP).header(GET_FAMILY, 1, 0, 0));

                assertThat(families)
                        .extracting(family -> text(family))
                        .contains("nlctrl")
                        .doesNotHaveDuplicates();
            }
        }
    }

    private static String text(ByteBuffer family) {
        ByteBuffer name = NetlinkAttributes.find(family, GenericNetlink.HEADER_BYTES, FAMILY_NAME);
        return name == null ? "" : NetlinkAttributes.text(name);
    }

    @Test
    void messagesWithoutAnAnswerDoNotDisturbThoseWithOne() throws Exception {
        try (GenericNetlink control = GenericNetlink.open("nlctrl")) {
            for (int i = 0; i < 10; i++) {
                // Each is refused, and the refusal lies before the answer that is waited for.
                control.tell(control.message(GET_FAMILY).attribute(FAMILY_NAME, "no-such-family"));
            }
            assertThat(control.call(control.request(GET_FAMILY).attribute(FAMILY_NAME, "nlctrl")))
                    .hasSize(1);
        }
    }

    @Test
    void randomBytesAreNeverReadPastTheirEnd() {
        long seed = Seeds.ofCommit(NetlinkTest.class);
        Random random = new Random(seed);
        for (int round = 0; round < Seeds.scaled(20_000); round++) {
            byte[] bytes = new byte[random.nextInt(64)];
            random.nextBytes(bytes);
            if (bytes.length > 4 && random.nextBoolean()) {
                ByteBuffer.wrap(bytes).order(ByteOrder.nativeOrder()).putShort(0, (short) random.nextInt(32));
            }
            ByteBuffer found = NetlinkAttributes.find(
                    ByteBuffer.wrap(bytes).order(ByteOrder.nativeOrder()), 0, random.nextInt(0x4000));
            assertThat(found == null || found.capacity() <= bytes.length - 4)
                    .as("seed " + seed + ", round " + round)
                    .isTrue();
        }
    }

    @Test
    void aRequestThatIsTooLongIsRefusedBeforeItIsSent() {
        assertThatThrownBy(() -> new NetlinkRequest(1, 0).attribute(1, ByteBuffer.allocate(2_000)))
                .isInstanceOf(java.nio.BufferOverflowException.class);
    }

    @Test
    void closingTwiceIsOnce() throws Exception {
        NetlinkSocket socket = NetlinkSocket.open(NetlinkSocket.ROUTE);
        socket.close();
        socket.close();
        assertThatThrownBy(() -> socket.exchange(new NetlinkRequest(CONTROL, NetlinkRequest.ACK)))
                .isInstanceOf(NetlinkException.class)
                .hasMessageContaining("cannot send");
    }
}
