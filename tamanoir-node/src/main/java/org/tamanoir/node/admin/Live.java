package org.tamanoir.node.admin;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.tamanoir.ee.Tap;
import org.tamanoir.manager.ActiveNodeManager;
import org.tamanoir.manager.Event;
import org.tamanoir.manager.EventLog;

/** What happens in the node, told as it happens until the client ends it. One thread each. */
final class Live {
    /** How soon the end of a client is noticed. */
    private static final Duration LOOK = Duration.ofSeconds(1);

    /** Between signs of life, in looks: below the time-outs of proxies and of the listener. */
    private static final int HEARTBEAT_LOOKS = 15;

    /** Drops that may wait for a client. */
    private static final int WAITING_DROPS = 4096;

    private final ActiveNodeManager manager;

    Live(ActiveNodeManager manager) {
        this.manager = manager;
    }

    /** Events after the one that the client names, or from now on. */
    void events(Call call, LiveAnswer answer) throws ApiException, IOException, InterruptedException {
        EventLog events = manager.events();
        String lastSeen = call.header("Last-Event-ID");
        long last = lastSeen != null && lastSeen.matches("\\d{1,18}")
                ? Long.parseLong(lastSeen)
                : call.number("after", 0, Long.MAX_VALUE, events.lastId());
        answer.begin(LiveAnswer.EVENT_STREAM);
        answer.comment("events");
        int quiet = 0;
        while (!answer.isClosed()) {
            List<Event> news = events.await(last, LOOK);
            for (Event event : news) {
                answer.event(event.kind(), Long.toString(event.id()), Views.NodeEvent.of(event));
                last = event.id();
            }
            quiet = news.isEmpty() ? quiet + 1 : 0;
            quiet = heartbeat(answer, quiet);
        }
    }

    /** Drops from now on. */
    void drops(Call call, LiveAnswer answer) throws IOException, InterruptedException {
        try (Tap.View<Tap.Drop> drops = manager.environment().tap().drops(WAITING_DROPS)) {
            answer.begin(LiveAnswer.EVENT_STREAM);
            answer.comment("drops");
            int quiet = 0;
            while (!answer.isClosed()) {
                Tap.@Nullable Drop drop = drops.take(LOOK);
                if (drop != null) {
                    answer.event("drop", null, Views.Drop.of(drop));
                }
                long missed = drops.missed();
                if (missed > 0) {
                    answer.event("missed", null, new Views.Missed(missed));
                }
                quiet = drop == null ? quiet + 1 : 0;
                quiet = heartbeat(answer, quiet);
            }
        }
    }

    private static int heartbeat(LiveAnswer answer, int quiet) throws IOException, InterruptedException {
        if (quiet < HEARTBEAT_LOOKS) {
            return quiet;
        }
        answer.comment("alive");
        return 0;
    }
}
