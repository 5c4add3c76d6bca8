package org.tamanoir.manager;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class EventLogTest {
    private static final long START_MS = 1_700_000_000_000L;

    private final AtomicLong nowNs = new AtomicLong();
    private final EventLog log = new EventLog(nowNs::get, START_MS);

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
        assertThat(log.count()).as("events since the start").isEqualTo(12_000);
    }

    @Test
    void whoWaitsGetsTheSummaryWithoutAFurtherEvent() throws Exception {
        EventLog live = new EventLog();
        for (int i = 0; i < 200; i++) {
            live.add("stuck", "instance " + i, Map.of());
        }
        long seen = live.after(0).get(live.after(0).size() - 1).id();
        List<Event> news = live.await(seen, Duration.ofSeconds(40));
        assertThat(news).isNotEmpty();
        assertThat(news.get(0).text()).endsWith("like it in the last second)");
    }

    @Test
    void whoHasSeenEventsOfAnEarlierProcessGetsAllOfTheNextOne() throws Exception {
        for (int i = 0; i < 100; i++) {
            log.add("route", "before " + i, Map.of());
        }
        long seen = log.catchUp();
        EventLog next = new EventLog(nowNs::get, START_MS + 1000);
        assertThat(next.after(seen)).isEmpty();
        next.add("node", "the node is ready", Map.of());
        assertThat(next.after(seen)).extracting(Event::text).containsExactly("the node is ready");
        assertThat(next.await(seen, Duration.ZERO)).hasSize(1);
        assertThat(next.catchUp()).as("ids are others than before").isGreaterThan(seen);
    }

    @Test
    void aClockThatWasPutBackHidesNoEvents() throws Exception {
        EventLog next = new EventLog(nowNs::get, START_MS - Duration.ofDays(1).toMillis());
        next.add("node", "the node is ready", Map.of());
        assertThat(next.after(log.catchUp())).hasSize(1);
        assertThat(next.await(log.catchUp(), Duration.ZERO)).hasSize(1);
        assertThat(next.after(next.catchUp())).isEmpty();
    }

    @Test
    void idsAreWholeNumbersOfJavaScript() {
        assertThat(new EventLog().catchUp()).isLessThan(1L << 53);
    }
}
