package org.tamanoir.nodeos;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.net.InetAddress;
import java.net.UnknownHostException;
import org.junit.jupiter.api.Test;

class FlowTest {
    private final InetAddress v4 = address("10.0.0.1");
    private final InetAddress v6 = address("2001:db8::1");

    @Test
    void anyIsAllUdp() {
        assertThat(Flow.ANY).isEqualTo(new Flow(Flow.Protocol.UDP, null, null, null));
    }

    @Test
    void aStreamIsUnsignedAndOf32Bits() {
        assertThat(new Flow(Flow.Protocol.UDP, v4, null, 0xFFFF_FFFFL).stream()).isEqualTo(0xFFFF_FFFFL);
        for (long stream : new long[] {-1, 0x1_0000_0000L}) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> new Flow(Flow.Protocol.UDP, null, null, stream))
                    .withMessage("stream " + stream + ": must be 0 to 4294967295");
        }
    }

    @Test
    void tcpHasNoStream() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new Flow(Flow.Protocol.TCP, null, null, 1L))
                .withMessage("stream 1 over TCP: a level steers TCP by connection; leave the stream out");
    }

    @Test
    void bothEndsAreOfOneFamily() {
        assertThat(new Flow(Flow.Protocol.TCP, v6, v6, null).source()).isEqualTo(v6);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new Flow(Flow.Protocol.UDP, v4, v6, null))
                .withMessage("flow from 10.0.0.1 to 2001:db8:0:0:0:0:0:1: both must be IPv4 or both IPv6");
    }

    private static InetAddress address(String numeric) {
        try {
            return InetAddress.getByName(numeric);
        } catch (UnknownHostException e) {
            throw new AssertionError(e);
        }
    }
}
