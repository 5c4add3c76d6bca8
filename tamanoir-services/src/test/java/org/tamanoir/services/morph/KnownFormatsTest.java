package org.tamanoir.services.morph;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

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
}
