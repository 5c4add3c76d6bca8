package org.tamanoir.kernel.guest;

import static org.tamanoir.kernel.guest.Packets.KEY;

import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.tamanoir.support.Seeds;
import org.tamanoir.support.guest.GuestRunner;

/**
 * Packets a second through the router: plain, and with the module at several stages up to what Monitor asks for. The
 * processor that sends also forwards, and the receiver's interface drops all, so that the time to send is the time to
 * forward. Rounds take turns, since the host is not quiet; of their ratios the median is told. No figure is asserted.
 *
 * <p>With {@code native/vm/test --counted} the guest's time is instructions, and the figures hardly vary.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ForwardingRate {
    private static final int PACKETS = Seeds.number("tamanoir.packets", 5_000);
    private static final int ROUNDS = Seeds.number("tamanoir.rounds", 9);

    /** What the module is told. */
    private record Stage(String name, String... commands) {}

    private static final List<Stage> STAGES = List.of(
            new Stage("plain ip_forward"),
            new Stage("module on another port", "attach 3323"),
            new Stage("no policy for the packet", "attach 3322 unknown_up=0"),
            new Stage("policy that counts", "attach 3322", "set slot=1 key=" + KEY),
            new Stage("Monitor's: counts and marks", "attach 3322", "set slot=1 mark=class value=1 key=" + KEY));

    private Road road;

    @BeforeAll
    void open() {
        road = Road.open();
    }

    @AfterAll
    void close() {
        if (road != null) {
            road.close();
        }
    }

    @Test
    void tellsTheRateWithAndWithoutTheModule() throws IOException {
        Program.run(
                "bash",
                "-ec",
                "tc -n tmn-b qdisc add dev tmn-br clsact; tc -n tmn-b filter add dev tmn-br ingress matchall action drop");
        Program flood = road.flood();
        Program control = road.control(Road.ROUTER);
        String load = PACKETS + " " + Packets.packet(1, 20);
        double[][] rates = new double[STAGES.size()][ROUNDS];
        for (int round = -1; round < ROUNDS; round++) { // the first warms up
            for (int stage = 0; stage < STAGES.size(); stage++) {
                for (String command : STAGES.get(stage).commands) {
                    control.ok(command);
                }
                double rate = rate(flood, load);
                control.ok("detach");
                if (round >= 0) {
                    rates[stage][round] = rate;
                }
            }
        }
        List<String> report = new ArrayList<>();
        report.add("%d rounds of %,d packets of 64 bytes; thousand packets a second, ratio to the first:"
                .formatted(ROUNDS, PACKETS));
        for (int stage = 0; stage < STAGES.size(); stage++) {
            report.add("  %-30s %6.1f  %.3f"
                    .formatted(STAGES.get(stage).name, median(rates[stage]) / 1e3, ratio(rates[stage], rates[0])));
        }
        report.forEach(System.out::println);
        if (Files.isDirectory(GuestRunner.SHARE)) {
            Files.write(GuestRunner.SHARE.resolve("forwarding-rate.txt"), report);
        }
    }

    private static double rate(Program flood, String load) {
        return PACKETS * 1e9 / Program.value(flood.ok(load), "ns");
    }

    private static double ratio(double[] of, double[] to) {
        double[] ratios = new double[of.length];
        Arrays.setAll(ratios, i -> of[i] / to[i]);
        return median(ratios);
    }

    private static double median(double[] values) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        return sorted[sorted.length / 2];
    }
}
