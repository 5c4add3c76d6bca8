package org.tamanoir.services.morph;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.tamanoir.support.Waiting;

/** What a plan says, and all that is refused of it. */
class PlanReaderTest {
    @Test
    void readsTheTableOfWays() {
        Plan plan = Plans.read(
                new TestKinds(),
                "contexts: {work: {ring: 8k, state: 1MiB, share: 0.5}, more: }",
                "handlers:",
                "  even: {modulo: 2, then: shrink}",
                "  shrink: {late: , context: work, then: [spread, out]}",
                "  spread: {route: 2, context: more, then: {0: out, 1: last}}",
                "  last: {pass: , then: out}",
                "paths: [{format: flight, enter: even}]");
        assertThat(plan.table().dump()).isEqualTo("""
                        flight           even         receive    0:flight 0x2 shrink
                        flight           shrink       work       0:late 0x5 spread+out
                        late             spread       more       0:late 0x1 out 1:late 0x4 last
                        late             last         more       0:late 0x1 out
                        """);
        assertThat(plan.contexts().get(1)).isEqualTo(new ContextSpec("work", 8192, 1 << 20, 0.5));
    }

    /** Whoever opens a pipe waits for a writer. */
    @Test
    @Tag("process")
    void aPipeIsNoPlan(@TempDir Path folder) throws Exception {
        Path pipe = folder.resolve("pipe");
        assertThat(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor())
                .isZero();

        assertThat(Waiting.async(() -> PlanTree.read(pipe)))
                .failsWithin(Waiting.PATIENCE)
                .withThrowableThat()
                .withMessageContaining("plan " + pipe + " is no regular file");
    }

    @Test
    void saysAllThatIsWrongAtOnce() {
        assertThat(Plans.problems(
                        "speed: 3",
                        "contexts: {work: {ring: 3, stat: 1}}",
                        "handlers:",
                        "  a: {pass: , then: nowhere}",
                        "  b: {pass: }",
                        "  c: {}",
                        "  d: {pass: , modulo: 2, then: out}",
                        "  e: {mudulo: 2, then: out}",
                        "  f: {modulo: 0, then: out}",
                        "  g: {route: 3, then: {0: out, 2: out, 3: out}}",
                        "  h: {pass: , context: wrok, then: out}",
                        "  out: {pass: , then: out}",
                        "  i: {pass: , failure: fall, then: out}",
                        "paths:",
                        "  - {format: flight}",
                        "  - {destination: 10.0.0.0/40, enter: a}",
                        "  - {port: 70000, enter: z}"))
                .satisfiesExactly(
                        line -> assertThat(line).startsWith("speed: unknown; known: formats"),
                        line -> assertThat(line).startsWith("contexts.work.ring: 3 is out of bounds"),
                        line -> assertThat(line).startsWith("handlers.a.then: no handler 'nowhere'"),
                        line -> assertThat(line).startsWith("handlers.b.then: is missing"),
                        line -> assertThat(line).startsWith("handlers.c: no kind: one of"),
                        line -> assertThat(line).startsWith("handlers.d: several kinds: pass, modulo"),
                        line -> assertThat(line).startsWith("handlers.e.mudulo: neither a kind of handler nor"),
                        line -> assertThat(line).startsWith("handlers.f.modulo.n: 0 is out of bounds"),
                        line -> assertThat(line).startsWith("handlers.g.then: port 1 leads nowhere"),
                        line -> assertThat(line).startsWith("handlers.g.then.3: no such port: 0 to 2"),
                        line -> assertThat(line)
                                .startsWith("handlers.h.context: no context 'wrok'; known: receive, work"),
                        line -> assertThat(line).startsWith("handlers.out: no name"),
                        line -> assertThat(line).startsWith("handlers.i.failure: 'fall' is none of drop, pass"),
                        line -> assertThat(line).startsWith("paths[0].enter: is missing"),
                        line -> assertThat(line).startsWith("paths[1].destination: prefix length 40"),
                        line -> assertThat(line).startsWith("paths[2].port: 70000 is out of bounds"));
    }

    @Test
    void leadsAllPortsToOneName() {
        Plan plan = Plans.read(new TestKinds(), "handlers: {a: {route: 3, then: out}}", "paths: [{enter: a}]");
        assertThat(plan.stages().get(0).next()).isEqualTo(List.of(List.of(-1), List.of(-1), List.of(-1)));
    }

    @Test
    void refusesCirclesAndHandlersThatNothingLeadsTo() {
        assertThat(Plans.problems(
                        "handlers:",
                        "  a: {pass: , then: b}",
                        "  b: {pass: , then: a}",
                        "  c: {pass: , then: out}",
                        "paths: [{enter: a}]"))
                .satisfiesExactly(
                        line -> assertThat(line).startsWith("handlers.a.then: messages would go in a circle"),
                        line -> assertThat(line).startsWith("handlers.b.then: messages would go in a circle"),
                        line -> assertThat(line).startsWith("handlers.c: nothing leads to it"));
    }

    @Test
    void refusesFormatsThatDoNotFit() {
        assertThat(Plans.problems(
                        "handlers:",
                        "  a: {late: , then: b}",
                        "  b: {late: , then: out}",
                        "paths: [{format: flight, enter: a}]"))
                .singleElement()
                .asString()
                .startsWith("handlers.b: cannot take late from a: late ")
                .contains("has not all that an input needs; inputs: flight");
    }

    @Test
    void refusesTooManyHandlers() {
        StringBuilder plan = new StringBuilder("handlers:\n");
        for (int i = 0; i <= Plan.MAX_HANDLERS; i++) {
            plan.append("  h" + i + ": {pass: , then: out}\n");
        }
        assertThat(Plans.problems(plan.toString())).containsExactly("handlers: 101: at most 100 in a plan");
    }

    @Test
    void closesTheHandlersThatItAsks() {
        TestKinds kinds = new TestKinds();
        Plans.read(kinds, "handlers: {a: {pass: , then: out}}", "paths: [{enter: a}]");
        assertThat(kinds.open.get()).isZero();
    }

    @Test
    void notesWhatCannotBeCheckedBeforehand() {
        Plan plan = Plans.read(
                new TestKinds(),
                "handlers: {a: {pass: , then: out}}",
                "paths: [{format: train, enter: a}, {enter: a}]");
        assertThat(plan.notes())
                .satisfiesExactly(
                        line -> assertThat(line).startsWith("paths[0]: format train, which is not known here"),
                        line -> assertThat(line).startsWith("paths[1]: no format"));
    }

    // ---- placement ------------------------------------------------------------------------------------------

    private static List<String> contexts(String... lines) {
        Plan plan = Plans.read(new TestKinds(), lines);
        return plan.stages().stream()
                .map(stage -> stage.name() + " "
                        + plan.contexts().get(stage.context()).name())
                .toList();
    }

    @Test
    void placesHandlersWhereFewestEdgesCross() {
        assertThat(contexts(
                        "contexts: {one: , two: }",
                        "handlers:",
                        "  a: {pass: , then: b}",
                        "  b: {pass: , context: two, then: c}",
                        "  c: {pass: , then: out}",
                        "paths: [{enter: a}]"))
                .containsExactly("a receive", "b two", "c two");
    }

    @Test
    void placesHandlersWhereTheirStateFits() {
        assertThat(contexts(
                        "contexts: {receive: {state: 1MiB}, one: {state: 2MiB}, two: {state: 4MiB}}",
                        "handlers:",
                        "  a: {needs: {state: 1MiB}, then: b}",
                        "  b: {needs: {state: 3MiB}, then: c}",
                        "  c: {needs: {state: 1MiB}, then: out}",
                        "paths: [{enter: a}]"))
                .containsExactly("a receive", "b two", "c two");
    }

    @Test
    void refusesWhatFitsNowhereWithTheNumbers() {
        assertThat(Plans.problems(
                        "contexts: {receive: {state: 1MiB}, one: {state: 2MiB}}",
                        "handlers: {a: {needs: {state: 3MiB}, then: out}}",
                        "paths: [{enter: a}]"))
                .containsExactly(
                        "handlers.a: fits in no context; receive: its handlers need 3145728 bytes of state, it has"
                                + " 1048576: state: 3145728 would fit; one: its handlers need 3145728 bytes of state, it has 2097152:"
                                + " state: 3145728 would fit; raise one of them, or declare another context");
    }

    @Test
    void refusesWhatTakesTooMuchTime() {
        assertThat(Plans.problems(
                        "rate: 100000",
                        "contexts: {receive: {share: 0.5}}",
                        "handlers: {a: {needs: {ns: 6000}, context: receive, then: out}}",
                        "paths: [{enter: a}]"))
                .containsExactly("contexts.receive: its handlers need 6000 ns a message, at 100000 a second 0.60 of a"
                        + " processor, it has 0.50: share: 0.60 would fit");
    }

    @ParameterizedTest
    @ValueSource(strings = {"0", "1.5", "\"0x1p-1\"", "\"0.5d\"", "\"NaN\"", "half"})
    void refusesAShareThatIsNone(String share) {
        assertThat(Plans.problems("contexts: {one: {share: " + share + "}}", "handlers: {}", "paths: []"))
                .anyMatch(line -> line.endsWith(" is no share of a processor: more than 0, at most 1"));
    }

    @Test
    void refusesContextsThatLeadBackToEachOther() {
        assertThat(Plans.problems(
                        "contexts: {one: }",
                        "handlers:",
                        "  a: {pass: , context: one, then: b}",
                        "  b: {pass: , context: receive, then: out}",
                        "paths: [{enter: a}]"))
                .singleElement()
                .asString()
                .contains("behind another context no handler is in receive");
    }

    // ---- order ----------------------------------------------------------------------------------------------

    private static final String[] FILTER_LAST = {
        "handlers:",
        "  shrink: {late: , then: third}",
        "  third: {modulo: 3, then: ninth}",
        "  ninth: {modulo: 9, then: out}",
        "paths: [{format: flight, enter: shrink}]"
    };

    private static List<String> runOrder(Plan plan) {
        return plan.stages().stream().map(StageSpec::name).toList();
    }

    @Test
    void putsTheHandlerFirstThatLetsFewestBytesThrough() {
        Plan plan = Plans.read(new TestKinds(), FILTER_LAST);
        assertThat(runOrder(plan)).containsExactly("ninth", "shrink", "third");
        assertThat(plan.order())
                .containsExactly(
                        "written third, ninth; runs ninth, third: both pass messages unchanged, and ninth lets 0.11 of the"
                                + " bytes through, third 0.33",
                        "written shrink, ninth; runs ninth, shrink: ninth reads id, which the other leaves as it is, and ninth"
                                + " lets 0.11 of the bytes through, shrink 0.30");
    }

    @Test
    void leavesTheOrderWhereThePlanSaysSo() {
        String[] lines = FILTER_LAST.clone();
        lines[0] = "reorder: false\nhandlers:";
        assertThat(runOrder(Plans.read(new TestKinds(), lines))).containsExactly("shrink", "third", "ninth");
    }

    @Test
    void leavesAFilterBehindAHandlerWhoseInputIsNotKnown() {
        Plan plan = PlanReader.read(
                Plans.tree(
                        "handlers:",
                        "  shrink: {translate: late, then: some}",
                        "  some: {filter: 'late.id > 3', then: out}",
                        "paths: [{enter: shrink}]"),
                Path.of("."),
                new PlanKinds(new TestNode()),
                Plans.KNOWN,
                Map.of());
        assertThat(runOrder(plan)).containsExactly("shrink", "some");
    }

    @Test
    void leavesHandlersInPlaceThatOthersLeadTo() {
        assertThat(runOrder(Plans.read(
                        new TestKinds(),
                        "handlers:",
                        "  third: {modulo: 3, then: ninth}",
                        "  ninth: {modulo: 9, then: out}",
                        "paths: [{format: late, enter: ninth}, {enter: third}]")))
                .containsExactly("third", "ninth");
    }

    @Test
    void refusesAHandlerThatThrowsWhateverWhenItIsPrepared() {
        assertThat(Plans.problems("handlers: {a: {unbound: , then: out}}", "paths: [{format: flight, enter: a}]"))
                .containsExactly(
                        "handlers.a: cannot take flight from paths[0]: IllegalStateException: nothing is prepared for flight");
    }

    @Test
    void refusesAnAliasThatLeadsToItself() {
        assertThatThrownBy(() -> PlanTree.parse("test", "declare: &d {f: {g: *d}}"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("more than 50 maps and lists in one another");
    }
}
