package org.tamanoir.node.admin;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.tamanoir.manager.ActiveNodeManager;
import org.tamanoir.manager.Event;
import org.tamanoir.manager.EventLog;
import org.tamanoir.traffic.Tap;

/** What happens in the node, told as it happens until the client ends it. A thread for each call. */
final class EventStreams {
    /** How soon the end of a client is noticed. */
    private static final Duration LOOK = Duration.ofSeconds(1);

    /** Between signs of life, in looks: below the time-outs of proxies and of the listener. */
    private static final int HEARTBEAT_LOOKS = 15;

    /** Drops that may wait for a client. */
    private static final int WAITING_DROPS = 4096;

    /** Each may hold 64 MiB of packets. */
    private static final int MAX_CAPTURES = 2;

    private static final int MAX_CAPTURED_PACKETS = 65_536;
    private static final int DEFAULT_CAPTURED_PACKETS = 100;
    private static final int MAX_CAPTURE_SECONDS = 3600;
    private static final int DEFAULT_CAPTURE_SECONDS = 60;
    private static final int BUFFER_BYTES = 64 * 1024;

    private final ActiveNodeManager manager;
    private final Semaphore captures = new Semaphore(MAX_CAPTURES);

    EventStreams(ActiveNodeManager manager) {
        this.manager = manager;
    }

    /** Events after the one that the client names, or from now on. */
    void events(Call call, StreamedAnswer answer) throws ApiException, IOException, InterruptedException {
        EventLog events = manager.events();
        String lastSeen = call.header("Last-Event-ID");
        long last = lastSeen != null && lastSeen.matches("\\d{1,18}")
                ? Long.parseLong(lastSeen)
                : call.number("after", 0, Long.MAX_VALUE, events.catchUp());
        answer.begin(StreamedAnswer.EVENT_STREAM);
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

    /** Drops from now on: all of them, or as many a second as the client asks for. */
    void drops(Call call, StreamedAnswer answer) throws ApiException, IOException, InterruptedException {
        int perSecond = (int) call.number("perSecond", 1, WAITING_DROPS, 0);
        try (Tap.View<Tap.Drop> drops = manager.environment().tap().drops(perSecond == 0 ? WAITING_DROPS : perSecond)) {
            answer.begin(StreamedAnswer.EVENT_STREAM);
            answer.comment("drops");
            int quiet = 0;
            int left = perSecond;
            while (!answer.isClosed()) {
                if (perSecond > 0 && left-- == 0) {
                    TimeUnit.SECONDS.sleep(1);
                    left = perSecond - 1;
                }
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

    /** The next packets that come in, as a pcap file. */
    void capture(Call call, StreamedAnswer answer) throws ApiException, IOException, InterruptedException {
        int packets = (int) call.number("packets", 1, MAX_CAPTURED_PACKETS, DEFAULT_CAPTURED_PACKETS);
        long seconds = call.number("seconds", 1, MAX_CAPTURE_SECONDS, DEFAULT_CAPTURE_SECONDS);
        if (!captures.tryAcquire()) {
            throw new ApiException(
                    ApiException.BUSY, MAX_CAPTURES + " captures run already: end one, or try again later");
        }
        try (Tap.View<Tap.Captured> arrivals = manager.environment().tap().arrivals(packets)) {
            answer.begin(StreamedAnswer.PCAP);
            CaptureFile file = new CaptureFile(new BufferedOutputStream(answer.stream(), BUFFER_BYTES));
            file.flush();
            long endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
            int left = packets;
            while (left > 0 && !answer.isClosed() && System.nanoTime() - endNs < 0) {
                Tap.@Nullable Captured packet = arrivals.take(Duration.ZERO);
                if (packet == null) {
                    file.flush();
                    packet = arrivals.take(LOOK);
                }
                if (packet != null) {
                    left--;
                    long epochNs = TimeUnit.SECONDS.toNanos(packet.time().getEpochSecond())
                            + packet.time().getNano();
                    file.write(epochNs, packet.transport(), packet.peer(), packet.local(), packet.bytes());
                }
            }
            file.flush();
        } finally {
            captures.release();
        }
    }

    private static int heartbeat(StreamedAnswer answer, int quiet) throws IOException, InterruptedException {
        if (quiet < HEARTBEAT_LOOKS) {
            return quiet;
        }
        answer.comment("alive");
        return 0;
    }
}
