package org.tamanoir.cluster.reflect;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

class TablesTest {
    private static final long LOOPBACK = 0xFFFF_7F00_0001L;

    @Test
    void membersAreFoundAsInAMap() {
        Random random = new Random(3);
        Members members = new Members(100, 5);
        Map<Integer, Member> model = new HashMap<>();
        for (int step = 0; step < 50_000; step++) {
            int port = 1 + random.nextInt(150);
            Member known = members.find(0, LOOPBACK, port);
            assertThat(known).isSameAs(model.get(port));
            if (known != null) {
                members.remove(known);
                model.remove(port);
            } else if (!members.isFull()) {
                Member made = new Member(Sessions.members(port).get(0), Origin.API, 0);
                members.add(made);
                model.put(port, made);
            }
            assertThat(members.count()).isEqualTo(model.size());
        }
    }

    @Test
    void whatPassedIsKnownForTwoSecondsAndInBoundedRoom() {
        Seen seen = new Seen();
        assertThat(seen.isAgain(0, 0, Seen.HORIZON_NS)).isFalse();
        assertThat(seen.isAgain(0, Seen.HORIZON_NS - 1, Seen.HORIZON_NS)).isTrue();
        assertThat(seen.isAgain(0, Seen.HORIZON_NS, Seen.HORIZON_NS)).isFalse();
        for (int i = 1; i < 1_000_000; i++) {
            assertThat(seen.isAgain(Seen.mix(i, 0), 0, Seen.HORIZON_NS)).isFalse();
        }
    }

    @Test
    void sourcesAreBounded() {
        RtpSources sources = new RtpSources(90_000);
        for (int ssrc = 0; ssrc < 10_000; ssrc++) {
            sources.of(ssrc).packet(1, 1, ssrc);
        }
        assertThat(sources.all()).hasSizeLessThanOrEqualTo(256).anyMatch(source -> source.ssrc == 9_999);
    }
}
