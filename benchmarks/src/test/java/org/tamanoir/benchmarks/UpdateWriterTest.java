package org.tamanoir.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.tamanoir.routing.MrtUpdates;
import org.tamanoir.routing.NextHop;
import org.tamanoir.routing.Prefix;

class UpdateWriterTest {
    private static final int CHANGES = 20_000;

    private static byte[] updates(RouteGenerator ipv4, RouteGenerator ipv6) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        new UpdateWriter(ipv4, ipv6, 1).write(out, CHANGES);
        return out.toByteArray();
    }

    @Test
    void allChangesAreOfTheTableAndAWithdrawnPrefixIsAnnouncedNext() throws Exception {
        RouteGenerator ipv4 = RouteGenerator.ipv4(5000, 1);
        RouteGenerator ipv6 = RouteGenerator.ipv6(2000, 1);
        Set<Prefix> table = new HashSet<>();
        for (int i = 0; i < ipv4.count; i++) {
            table.add(ipv4.prefix(i));
        }
        for (int i = 0; i < ipv6.count; i++) {
            table.add(ipv6.prefix(i));
        }
        byte[] file = updates(ipv4, ipv6);
        assertThat(updates(ipv4, ipv6)).isEqualTo(file);

        List<Prefix> changes = new ArrayList<>();
        Set<Prefix> withdrawn = new HashSet<>();
        int[] families = new int[2];
        MrtUpdates.read(new ByteArrayInputStream(file), "updates", List.of(FibTable.hop(1)), new MrtUpdates.Changes() {
            @Override
            public void announced(Prefix prefix, NextHop nextHop) {
                changes.add(prefix);
                withdrawn.remove(prefix);
                families[prefix.isIpv4() ? 0 : 1]++;
            }

            @Override
            public void withdrawn(Prefix prefix) {
                changes.add(prefix);
                assertThat(withdrawn.add(prefix)).isTrue();
                families[prefix.isIpv4() ? 0 : 1]++;
            }
        });
        assertThat(changes).hasSize(CHANGES);
        assertThat(changes).allMatch(table::contains); // containsAll() looks through the whole set for each
        assertThat(withdrawn).isNotEmpty();
        assertThat(families[0]).isGreaterThan(families[1]);
        assertThat(families[1]).isPositive();
    }
}
