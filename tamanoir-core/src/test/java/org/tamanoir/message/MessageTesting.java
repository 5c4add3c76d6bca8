package org.tamanoir.message;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.tamanoir.anep.Packet;
import org.tamanoir.service.StreamInfo.Transport;
import org.tamanoir.testkit.ServiceHarness;

/** Starts services in a harness; behind each test their messages have been conserved, and nothing is held. */
abstract class MessageTesting {
    final TestFormats formats = new TestFormats(Flights.FLIGHT, Flights.SHORT);
    private final List<ServiceHarness> harnesses = new ArrayList<>();

    ServiceHarness start(TestHandler handler, Transport transport, String... settings) {
        return start(handler, transport, formats, settings);
    }

    ServiceHarness start(TestHandler handler, Transport transport, TestFormats source, String... settings) {
        Map<String, String> config = new java.util.HashMap<>();
        for (String setting : settings) {
            config.put(setting.substring(0, setting.indexOf('=')), setting.substring(setting.indexOf('=') + 1));
        }
        ServiceHarness harness = ServiceHarness.start(handler, transport, config, source);
        harnesses.add(harness);
        return harness;
    }

    @AfterEach
    void messagesAreConserved() {
        for (ServiceHarness harness : harnesses) {
            assertBalanced(harness);
            harness.close();
            assertBalanced(harness);
            assertThat(harness.counters().getOrDefault("messages.held", 0L)).isZero();
        }
    }

    static void assertBalanced(ServiceHarness harness) {
        Map<String, Long> counters = harness.counters();
        if (counters.isEmpty()) {
            return; // No packet has come.
        }
        long dropped = counters.entrySet().stream()
                .filter(e -> e.getKey().startsWith("messages.dropped."))
                .mapToLong(Map.Entry::getValue)
                .sum();
        assertThat(dropped).isEqualTo(counters.get("messages.dropped"));
        assertThat(harness.count("messages.in") + harness.count("messages.made"))
                .as("in + made of %s", counters)
                .isEqualTo(harness.count("messages.out")
                        + dropped
                        + harness.count("messages.merged")
                        + harness.count("messages.held"));
    }

    static long dropped(ServiceHarness harness, MessageReason reason) {
        return harness.counters().getOrDefault("messages.dropped." + reason, 0L);
    }

    static byte[] only(ServiceHarness harness) {
        List<byte[]> records = Flights.records(harness.packets());
        assertThat(records).hasSize(1);
        return records.get(0);
    }

    static List<byte[]> leave(ServiceHarness harness) {
        return harness.packets().stream().map(Flights::bytes).toList();
    }

    static List<byte[]> bytes(List<Packet> packets) {
        return packets.stream().map(Flights::bytes).toList();
    }
}
