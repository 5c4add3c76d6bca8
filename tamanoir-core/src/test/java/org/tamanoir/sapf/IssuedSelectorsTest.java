package org.tamanoir.sapf;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.tamanoir.sapf.IssuedSelectors.Outcome;

/** The table of selectors: its bounds, and who gives way to whom. */
class IssuedSelectorsTest {
    private static final long LIFETIME_NS = 60_000_000_000L;
    private static final int PORT = 3322;

    private final IssuedSelectors table = new IssuedSelectors(new SplittableRandom(20_000_326)::nextInt);
    private final HeaderTemplate header = header();
    private long request;

    private static HeaderTemplate header() {
        byte[] packet = SapfEnd.packet(1, "");
        return Objects.requireNonNull(HeaderTemplate.of(ByteBuffer.wrap(packet), 0, packet.length));
    }

    private Outcome bind(long source, long nowNs) {
        return table.bind(++request, header, 0, 0xFFFF_0000_0000L | source, PORT, nowNs, LIFETIME_NS);
    }

    private Binding proven(long source, long nowNs) {
        Binding binding = Objects.requireNonNull(bind(source, nowNs).binding());
        table.prove(binding);
        return binding;
    }

    @Test
    void aSourceHasNoMoreThanItsShareAndOthersTheirs() {
        List<Binding> own = new ArrayList<>();
        for (int i = 0; i < IssuedSelectors.PER_SOURCE; i++) {
            own.add(proven(1, 0));
        }
        assertThat(bind(1, 1).reason()).isEqualTo(Refused.SOURCE_FULL);
        assertThat(own).allMatch(each -> table.find(each.selector) == each);
        assertThat(bind(2, 1).reason()).isNull();
        table.remove(own.get(3));
        assertThat(bind(1, 1).reason()).isNull();
    }

    @Test
    void whoAsksInAnothersNameTakesNoneOfItsProvenOnes() {
        List<Binding> own = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            own.add(proven(1, 0));
        }
        for (int i = 0; i < 10_000; i++) {
            assertThat(bind(1, 1).reason()).isNull();
        }
        assertThat(own).allMatch(each -> table.find(each.selector) == each);
        assertThat(table.bindings()).isEqualTo(IssuedSelectors.PER_SOURCE);
        assertThat(proven(1, 2)).as("the source's next").isNotNull();
    }

    @Test
    void strangersCostBoundedMemoryAndTakeNoProvenOnes() {
        Binding own = proven(1, 0);
        for (long source = 2; source < 300_000; source++) {
            assertThat(bind(source, 1).reason()).isNull();
        }
        assertThat(table.bindings()).isEqualTo(1 + IssuedSelectors.UNPROVEN);
        assertThat(table.find(own.selector)).isSameAs(own);
    }

    @Test
    void aFullTableRefusesUntilLifetimesAreOver() {
        Set<Long> selectors = new HashSet<>();
        for (int i = 0; i < Selector.SLOTS; i++) {
            selectors.add(proven(i / IssuedSelectors.PER_SOURCE, 0).selector);
        }
        assertThat(selectors).hasSize(Selector.SLOTS);
        assertThat(bind(1_000, LIFETIME_NS - 1).reason()).isEqualTo(Refused.FULL);
        assertThat(bind(1_000, LIFETIME_NS).reason()).isNull();
        assertThat(table.bindings()).isLessThan(Selector.SLOTS);
    }

    @Test
    void aSlotThatIsBoundAnewHasAnotherSelector() {
        Binding first = proven(1, 0);
        table.remove(first);
        Binding second = proven(2, 0);
        assertThat(Selector.slot(second.selector)).isEqualTo(Selector.slot(first.selector));
        assertThat(table.find(first.selector)).isNull();
        assertThat(table.find(second.selector)).isSameAs(second);
    }

    @Test
    void anIpv6SourceStandsForItsNetwork() {
        for (int i = 0; i < IssuedSelectors.PER_SOURCE; i++) {
            table.prove(Objects.requireNonNull(
                    table.bind(++request, header, 5, i, PORT, 0, LIFETIME_NS).binding()));
        }
        assertThat(table.bind(++request, header, 5, 1 << 20, PORT, 0, LIFETIME_NS)
                        .reason())
                .isEqualTo(Refused.SOURCE_FULL);
        assertThat(table.bind(++request, header, 6, 1 << 20, PORT, 0, LIFETIME_NS)
                        .reason())
                .isNull();
    }
}
