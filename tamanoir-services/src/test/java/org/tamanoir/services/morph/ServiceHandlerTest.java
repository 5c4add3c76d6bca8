package org.tamanoir.services.morph;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.tamanoir.message.MessageService;
import org.tamanoir.service.ServiceConfig;
import org.tamanoir.service.Setting;
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

    @Setting(name = "depth", kind = Setting.Kind.NUMBER, min = 0, max = 9, text = "of a test")
    private static final class Declaring extends MessageService {}

    @ParameterizedTest
    @CsvSource({
        "deph, 1, deph: no such setting",
        "depth, 10, depth: 10 must be a whole number from 0 to 9",
        "hold-formats, 5000, hold-formats: 5000 must be a whole number from 0 to 4096"
    })
    void refusesSettingsThatTheServiceDoesNotDeclare(String key, String value, String refusal) {
        TestNode node = new TestNode();
        node.services.put("declaring", Declaring::new);
        PlanNames names = new PlanNames(Map.of(), Path.of("."));
        Map<String, Object> settings = Map.of("name", "declaring", "config", Map.of(key, value));
        assertThatThrownBy(() -> ServiceHandler.make("handlers.a.service", settings, names, node))
                .hasMessageContaining("declaring refuses its settings: ")
                .hasMessageContaining(refusal);
    }
}
