package org.tamanoir.benchmarks.cluster;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.tamanoir.benchmarks.NodeJvm;
import org.tamanoir.benchmarks.cluster.ClusterInGuest.Part;
import org.tamanoir.benchmarks.cluster.Rig.Load;
import org.tamanoir.benchmarks.report.Numbers;
import tools.jackson.databind.json.JsonMapper;

/** What several experiments draw on, measured once, when the first of them asks. Thread contract: one thread. */
final class Measurements {
    /** Of the front-end's cost, in the guest: three flows of 300 datagrams. */
    private static final int PACKETS = 900;

    private static final int ROUNDS = 9;
    private static final int QUICK_ROUNDS = 2;
    /** Native processors forward so many in about 0.1 s. */
    private static final int HOST_PACKETS = 60_000;
    /** Largest that all ways take in one frame. */
    static final List<Integer> FRAMES = List.of(64, 1400);

    /** Gzip takes turns of a processor that are longer: so many more of them go into a point. */
    private static final int GZIP_WINDOWS = 4;

    private static final double WARM_UP_S = 3;
    private static final int FEW_STREAMS = 6;

    private final Guest guest;
    private final NodeJvm jvm;
    private final boolean quick;
    private final double seconds;
    private final @Nullable Path earlier;
    private @Nullable Division division;
    private @Nullable List<FrontEnd.Cost> frontEnd;
    private @Nullable OnHost onHost;
    private @Nullable Double forwardNs;

    /**
     * Nothing is measured yet.
     *
     * @param earlier folder of a report whose data take the place of measuring, as far as it has them; null: none
     */
    Measurements(Guest guest, NodeJvm jvm, boolean quick, double seconds, @Nullable Path earlier) {
        this.guest = guest;
        this.jvm = jvm;
        this.quick = quick;
        this.seconds = seconds;
        this.earlier = earlier;
    }

    /**
     * Without a front-end, on this host's processors.
     *
     * @param straight without nodes
     * @param inflatedBytes of text that came out of Gzip as it went in
     * @param divided packets at each node of streams of equal length
     * @param points through nodes
     */
    record OnHost(List<Point> straight, long inflatedBytes, List<Long> divided, List<Point> points) {}

    /** Figure 16 in the guest. */
    Division division() throws IOException {
        if (division == null) {
            String results = earlier("fig16.json");
            division = JsonMapper.shared().readValue(results.isEmpty() ? divide() : results, Division.class);
        }
        return division;
    }

    private String divide() throws IOException {
        return guest.run(
                Part.DIVISION,
                List.of(
                        "--streams",
                        Guest.list(Settings.streamsInGuest(quick)),
                        "--sizes",
                        Guest.list(quick ? List.of(Settings.PAPER_BYTES) : List.of(1400, Settings.PAPER_BYTES)),
                        "--seconds",
                        guestSeconds(quick)));
    }

    /** For which throughput is measured at each point in the guest. */
    static String guestSeconds(boolean quick) {
        return quick ? "1" : "4";
    }

    /** What an earlier report has in this file; empty = nothing. */
    private String earlier(String file) throws IOException {
        return earlier != null && Files.exists(earlier.resolve(file)) ? Files.readString(earlier.resolve(file)) : "";
    }

    /** What packets cost a front-end in the guest, by its counted clock: ns are instructions. */
    List<FrontEnd.Cost> frontEnd() throws IOException {
        if (frontEnd == null) {
            String results = earlier("front-end.json");
            frontEnd = JsonMapper.shared()
                    .readerForListOf(FrontEnd.Cost.class)
                    .readValue(results.isEmpty() ? count() : results);
        }
        return frontEnd;
    }

    private String count() throws IOException {
        return guest.run(
                Part.FRONT_END,
                List.of(
                        "--sizes",
                        Guest.list(FRAMES),
                        "--rounds",
                        Integer.toString(quick ? QUICK_ROUNDS : ROUNDS),
                        "--packets",
                        Integer.toString(PACKETS)));
    }

    /** What plain forwarding of a frame costs on this host, in ns; median. */
    double forwardNs() throws IOException {
        if (forwardNs == null) {
            try (FrontEnd plain = new FrontEnd(guest.traffic(), List.of(FrontEnd.PLAIN), true)) {
                List<FrontEnd.Cost> costs =
                        plain.measure(List.of(1400), quick ? QUICK_ROUNDS : ROUNDS, HOST_PACKETS, () -> {});
                forwardNs = Numbers.median(costs.get(0).ns());
            }
        }
        return forwardNs;
    }

    /** Throughput and costs on the host. */
    OnHost onHost() throws IOException {
        String results = onHost == null ? earlier("model.json") : "";
        if (!results.isEmpty()) {
            onHost = JsonMapper.shared().readValue(results, OnHost.class);
        }
        if (onHost == null) {
            try (Rig rig = new Rig(jvm)) {
                onHost = measure(rig);
            }
        }
        return onHost;
    }

    private OnHost measure(Rig rig) throws IOException {
        say("three nodes are ready");
        Rig.Sent sent =
                rig.send(Load.through(Bed.BACK_ENDS, Work.MONITOR, Settings.PAPER_BYTES, Settings.PAPER_STREAMS), 200);
        long inflated = rig.inflate(Load.through(Bed.BACK_ENDS, Work.GZIP, Settings.PAPER_BYTES, FEW_STREAMS), 200);
        for (Work work : Work.values()) {
            rig.flood(
                    Load.through(Bed.BACK_ENDS, work, 1400, Settings.PAPER_STREAMS),
                    Bed.BACK_ENDS,
                    quick ? WARM_UP_S / 3 : WARM_UP_S,
                    seconds);
        }
        say("warm; " + inflated + " bytes of text inflate to what was sent");
        List<Point> straight = new ArrayList<>();
        List<Point> points = new ArrayList<>();
        for (int bytes : Settings.sizes(quick)) {
            for (int streams : Settings.streams(quick)) {
                straight.add(point(rig, 0, Work.MONITOR, bytes, streams));
                through(rig, Work.MONITOR, bytes, streams, points);
            }
        }
        for (int streams : Settings.streams(quick)) {
            through(rig, Work.GZIP, Settings.PAPER_BYTES, streams, points);
        }
        return new OnHost(straight, inflated, sent.packets(), points);
    }

    private void through(Rig rig, Work work, int bytes, int streams, List<Point> points) throws IOException {
        for (int n = 1; n <= Bed.BACK_ENDS; n++) {
            points.add(point(rig, n, work, bytes, streams));
        }
    }

    private Point point(Rig rig, int backEnds, Work work, int bytes, int streams) throws IOException {
        double window = work == Work.GZIP ? GZIP_WINDOWS * seconds : seconds;
        Point point = rig.flood(Load.through(backEnds, work, bytes, streams), backEnds, window / 2, window);
        say("%s, %,d bytes, %d streams, %d nodes: %,.0f Mb/s"
                .formatted(backEnds == 0 ? "straight" : work.label(), bytes, streams, backEnds, point.megabits()));
        return point;
    }

    private static void say(String what) {
        System.out.println("    " + what);
    }
}
