package org.tamanoir.services.morph;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.tamanoir.format.Format;
import org.tamanoir.format.FormatId;
import org.tamanoir.format.FormatRegistry;
import org.tamanoir.format.FormatSource;
import org.tamanoir.format.Layout;
import org.tamanoir.service.ServiceConfig;

/** Which formats a node knows by its plans. */
class KnownFormatsTest {
    private final TestNode node = new TestNode();

    @Test
    void thoseThatFollowFromHandlersCanBeAskedFor() {
        String plan = "{declare: {order: {id: integer(8), city: string}}, "
                + "handlers: {small: {select: [id], then: out}}, paths: [{format: order, enter: small}]}";
        int before = node.formats().known().size();
        new MorphControl().init(node, new PlanKinds(node), PlanTree.parse("plan", plan));
        // The one that is declared, and the smaller one.
        assertThat(node.formats().known().size()).isEqualTo(before + 2);
    }

    private static final String ORDERS = "{declare: {order: {id: integer(8), city: string}}, "
            + "handlers: {small: {select: [id], then: out}}, paths: [{format: order, enter: small}]}";

    @Test
    void aCheckMakesNoFormatKnown() {
        MorphControl control = new MorphControl();
        control.init(node, new PlanKinds(node), Map.of());
        int before = node.formats().known().size();
        control.change("check", Map.of("plan", PlanTree.parse("plan", ORDERS)));
        assertThat(node.formats().known().size()).isEqualTo(before);
    }

    @Test
    void aPlansFormatComesBackWhenOthersHavePushedItOut() {
        FormatRegistry small = new FormatRegistry(8, 1 << 20);
        FormatSource source = FormatSource.of(small);
        MorphControl control = new MorphControl();
        control.init(node, new PlanKinds(node), PlanTree.parse("plan", ORDERS));
        FormatId order = Format.builder(Layout.X86_64)
                .structure("order")
                .field("id", "integer", 8)
                .field("city", "string")
                .build()
                .id();
        List<Format> got = new ArrayList<>();
        control.formats(source).request(order, null, got::add);

        assertThat(got).hasSize(1).doesNotContainNull();
        assertThat(small.find(order)).isNotNull();
    }

    @Test
    void aMergesKeyMayHaveOtherNamesInEachPart() {
        String plan = "{declare: {a: {k: integer(8), x: string}, b: {id: integer(8), y: string}, "
                + "o: {k: integer(8), x: string, y: string}}, "
                + "handlers: {m: {merge: {from: [a, b], key: {a: [k], b: [id]}, output: o, window: 5s}, then: out}}, "
                + "paths: [{format: a, enter: m}, {format: b, enter: m}]}";
        MorphControl control = new MorphControl();
        control.init(node, new PlanKinds(node), PlanTree.parse("plan", plan));
        assertThat(control.view()).isNotEmpty();
    }

    @Test
    void tooManyDeclaredFormatsAreRefusedBeforeTheyAreRead() {
        Map<String, Object> declared = new LinkedHashMap<>();
        for (int i = 0; i < 20_000; i++) {
            declared.put("f" + i, Map.of("n", "integer"));
        }
        MorphControl control = new MorphControl();
        assertThatThrownBy(() -> control.init(node, new PlanKinds(node), Map.of("declare", declared)))
                .hasMessage("declare: 20000 formats: at most 1000");
    }

    @Test
    void settingsOfMessagesAreCheckedBeforeThereIsAnInstance() {
        assertThatThrownBy(() -> new MorphControl().init(new ServiceConfig(Map.of("hold-formats", "5000")), node))
                .hasMessage("hold-formats: 5000 must be a whole number from 0 to 4096");
        assertThatThrownBy(() -> new MorphControl().init(new ServiceConfig(Map.of("plam", "x.yaml")), node))
                .hasMessageStartingWith("plam: no such setting; known: ");
    }
}
