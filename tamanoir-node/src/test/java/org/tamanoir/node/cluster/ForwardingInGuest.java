package org.tamanoir.node.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Streams of a client to a virtual address, through a back-end, to the sink. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Timeout(300)
class ForwardingInGuest {
    private static final int STREAMS = 12;
    private static final int PACKETS = 10;

    private ClusterBed bed;

    @BeforeAll
    @Timeout(600)
    void open() {
        bed = ClusterBed.get();
        bed.startNodes();
        for (Machine backEnd : bed.backEnds) {
            backEnd.run("""
                    for i in all eth0; do
                        echo 1 >/proc/sys/net/ipv4/conf/$i/arp_ignore
                        echo 2 >/proc/sys/net/ipv4/conf/$i/arp_announce
                    done
                    ip addr add 10.88.0.101/32 dev lo
                    ip addr add 10.88.0.103/32 dev lo
                    ip link set tunl0 up
                    for i in all tunl0; do echo 0 >/proc/sys/net/ipv4/conf/$i/rp_filter; done
                    """);
        }
        bed.directorA.run("""
                echo 1 >/proc/sys/net/ipv4/ip_forward
                echo 0 >/proc/sys/net/ipv4/conf/all/send_redirects
                echo 0 >/proc/sys/net/ipv4/conf/eth0/send_redirects
                for s in 101:-g 102:-m 103:-i; do
                    a=10.88.0.${s%:*}
                    ip addr add $a/32 dev eth0
                    for p in t u; do
                        ipvsadm -A -$p $a:3322 -s rr
                        for b in 11 12 13; do ipvsadm -a -$p $a:3322 -r 10.88.0.$b:3322 ${s#*:}; done
                    done
                done
                """);
    }

    @AfterEach
    void end() {
        bed.endStreams();
    }

    @ParameterizedTest
    @CsvSource({"direct,tcp", "direct,udp", "nat,tcp", "nat,udp", "tunnel,tcp", "tunnel,udp"})
    void twelveStreamsAreDividedEvenlyAndNoPacketIsLost(String forwarding, String transport) {
        List<Stream> streams = new ArrayList<>();
        for (int i = 0; i < STREAMS; i++) {
            streams.add(bed.stream(transport, ClusterBed.virtual(forwarding)));
            streams.get(i).send(PACKETS);
        }
        bed.awaitAll(streams);
        streams.forEach(stream -> stream.send(PACKETS));
        bed.awaitAll(streams);
        assertThat(bed.division(streams))
                .isEqualTo(Map.of(bed.addresses.get(0), 4, bed.addresses.get(1), 4, bed.addresses.get(2), 4));
    }
}
