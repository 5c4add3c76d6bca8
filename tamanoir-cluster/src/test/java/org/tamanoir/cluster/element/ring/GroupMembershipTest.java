package org.tamanoir.cluster.element.ring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.tamanoir.support.Waiting.eventually;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Rings on real sockets whose members are also those of a group. */
class GroupMembershipTest {
    private final List<AutoCloseable> opened = new ArrayList<>();
    private final Map<Integer, GroupMembership> groups = new HashMap<>();
    private final Map<Integer, TokenRing> rings = new HashMap<>();
    private RingSettings settings;

    @BeforeEach
    void start() throws IOException {
        settings = TokenRingTest.freePorts();
        opened.add(RingWatch.open(settings, () -> 0));
        for (int unit = 0; unit < 3; unit++) {
            GroupMembership group = GroupMembership.tcp(settings, unit);
            TokenRing ring = new TokenRing(settings, unit, group);
            opened.add(ring);
            groups.put(unit, group);
            rings.put(unit, ring);
            ring.start(new Runner(unit, ring));
        }
        eventually().until(() -> units(0).equals(List.of(0, 1, 2)));
    }

    @AfterEach
    void stop() throws Exception {
        for (AutoCloseable each : opened) {
            each.close();
        }
    }

    private List<Integer> units(int unit) {
        return Runner.units(Objects.requireNonNull(rings.get(unit)).status().view());
    }

    @Test
    void aUnitThatTheGroupHasLostIsOutThoughItAnswers() {
        Objects.requireNonNull(groups.get(1)).close();
        eventually().until(() -> units(0).equals(List.of(0, 2)) && units(2).equals(List.of(0, 2)));
    }

    @Test
    void anotherKeyEntersNoGroup() throws IOException {
        Objects.requireNonNull(groups.get(2)).close();
        eventually().until(() -> units(0).equals(List.of(0, 1)));
        RingSettings other = new RingSettings(
                settings.ringId(), new byte[16], settings.units(), settings.distributor(), settings.plan());
        List<Set<Integer>> views = new CopyOnWriteArrayList<>();
        try (GroupMembership stranger = GroupMembership.tcp(other, 2)) {
            stranger.start(views::add);
            assertThat(views).containsOnly(Set.of(2));
        }
    }

    @Test
    void aFileThatIsMissingIsAnErrorInOneLine() {
        assertThatThrownBy(() -> GroupMembership.configured(settings, 0, Path.of("missing.xml")))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("missing.xml");
    }
}
