package org.tamanoir.services.morph;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.tamanoir.message.MessageService;
import org.tamanoir.service.ServiceConfig;
import org.tamanoir.services.morph.handler.PlanNames;

class ServiceHandlerTest {
    /** Opens something, and fails then. */
    private static final class Failing extends MessageService {
        private boolean open;

        @Override
        public void init(ServiceConfig config) {
            open = true;
            throw new NoClassDefFoundError("org/example/Missing");
        }

        @Override
        public void close() {
            open = false;
        }
    }

    @Test
    void closesAServiceThatCannotBegin() {
        Failing service = new Failing();
        TestNode node = new TestNode();
        node.services.put("failing", () -> service);
        PlanNames names = new PlanNames(Map.of(), Path.of("."));
        assertThatThrownBy(() -> ServiceHandler.make("handlers.a.service", "failing", names, node))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("failing refuses its settings: NoClassDefFoundError: org/example/Missing");
        assertThat(service.open).isFalse();
    }
}
