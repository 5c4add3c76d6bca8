package org.tamanoir.manager;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class EventLogTest {
    private final AtomicLong nowNs = new AtomicLong();
    private final EventLog log = new EventLog(nowNs::get);

    private List<String> texts(long after) {
        return log.after(after).stream().map(Event::text).toList();
    }

    @Test
    void aFloodOfOneKindPushesOutNoOther() {
        log.add("revoked", "a key was revoked", Map.of());
        for (int i = 0; i < 100_000; i++) {
            log.add("deployment-failed", "key " + i, Map.of());
            nowNs.addAndGet(1_000_000);
        }
        log.add("route", "a route was set", Map.of());
        assertThat(texts(0)).startsWith("a key was revoked").endsWith("a route was set");
        assertThat(log.after(0)).hasSizeLessThan(2 + 256 + 1);
    }

    @Test
    void eventsThatWereLeftOutAreCountedInOneOfThem() {
        for (int i = 0; i < 12_000; i++) {
            log.add("deployment-failed", "key " + i, Map.of("key", "k"));
        }
        long seen = log.catchUp();
        assertThat(log.after(seen)).isEmpty();
        nowNs.addAndGet(Duration.ofSeconds(1).toNanos());
        List<Event> later = log.after(seen);
        assertThat(later).hasSize(1);
        assertThat(later.get(0).text()).isEqualTo("key 128 (and 11,871 like it in the last second)");
        assertThat(later.get(0).details()).containsEntry("key", "k");
        assertThat(log.catchUp()).as("events since the start").isEqualTo(12_000);
    }

    @Test
    void whoWaitsGetsTheSummaryWithoutAFurtherEvent() throws Exception {
        EventLog live = new EventLog();
        for (int i = 0; i < 200; i++) {
            live.add("stuck", "instance " + i, Map.of());
        }
        long seen = live.after(0).get(live.after(0).size() - 1).id();
        List<Event> news = live.await(seen, Duration.ofSeconds(20));
        assertThat(news).isNotEmpty();
        assertThat(news.get(0).text()).endsWith("like it in the last second)");
    }
}
