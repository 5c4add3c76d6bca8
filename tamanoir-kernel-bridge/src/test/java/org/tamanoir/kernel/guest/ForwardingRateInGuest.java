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

/**
 * Packets a second through the router: plain, with the module attached to another port, and with what Monitor asks for
 * (count and mark the class). The processor that sends also forwards, and the receiver's interface drops all, so that
 * the time to send is the time to forward. Rounds take turns, since the host is not quiet; of their ratios the median
 * is told. No figure is asserted.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ForwardingRateInGuest {
    private static final int PACKETS = Integer.getInteger("tamanoir.packets", 5_000);
    private static final int ROUNDS = Integer.getInteger("tamanoir.rounds", 9);

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
        double[][] rates = new double[3][ROUNDS];
        for (int round = -1; round < ROUNDS; round++) { // the first warms up
            double plain = rate(flood, load);
            control.ok("attach 3323");
            double beside = rate(flood, load);
            control.ok("attach 3322");
            control.ok("set key=" + KEY + " slot=1 mark=class value=1");
            double monitored = rate(flood, load);
            control.ok("detach");
            if (round >= 0) {
                rates[0][round] = plain;
                rates[1][round] = beside;
                rates[2][round] = monitored;
            }
        }
        List<String> report = new ArrayList<>();
        report.add("%d rounds of %,d packets of 64 octets, thousand packets a second, medians:"
                .formatted(ROUNDS, PACKETS));
        report.add("plain ip_forward %.1f".formatted(median(rates[0]) / 1e3));
        report.add(
                "module on another port %.1f, ratio %.3f".formatted(median(rates[1]) / 1e3, ratio(rates[1], rates[0])));
        report.add("module with Monitor's policy %.1f, ratio %.3f (asked: at least 0.9)"
                .formatted(median(rates[2]) / 1e3, ratio(rates[2], rates[0])));
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
