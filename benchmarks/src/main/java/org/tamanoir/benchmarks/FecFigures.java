package org.tamanoir.benchmarks;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.CRC32;
import org.jspecify.annotations.Nullable;
import org.tamanoir.benchmarks.netns.Shell;
import org.tamanoir.services.extra.fec.FecWork;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * {@code benchmarks fec}: how many bytes of data packets a processor makes repairs for in a second, and how many Intel's
 * ISA-L does in C, turn by turn in one run. Both must come to the same repairs. Without gcc or the library the second
 * is left out, with the reason.
 */
@Command(
        name = "fec",
        mixinStandardHelpOptions = true,
        description = "Measures the repairs of forward error correction, beside those of ISA-L in C.")
final class FecFigures extends CheckedCommand {
    private static final String SOURCE = "isal-fec.c";

    @Option(names = "--data", description = "Data packets of a block, 1 to 64. Default: ${DEFAULT-VALUE}.")
    private int k = 10;

    @Option(names = "--repair", description = "Its repairs, 1 to 32. Default: ${DEFAULT-VALUE}.")
    private int m = 3;

    @Option(names = "--bytes", description = "Of each packet, 64 to 65000. Default: ${DEFAULT-VALUE}.")
    private int bytes = 1400;

    @Option(names = "--rounds", description = "1 to 100. Default: ${DEFAULT-VALUE}.")
    private int rounds = 5;

    @Option(names = "--millis", description = "Processor time of a round, 10 to 10000. Default: ${DEFAULT-VALUE}.")
    private int millis = 500;

    private final ThreadMXBean threads = ManagementFactory.getThreadMXBean();

    @Override
    public Integer call() throws IOException {
        require(k >= 1 && k <= 64, "--data " + k + ": 1 to 64");
        require(m >= 1 && m <= 32, "--repair " + m + ": 1 to 32");
        require(bytes >= 64 && bytes <= 65_000, "--bytes " + bytes + ": 64 to 65000");
        require(rounds >= 1 && rounds <= 100, "--rounds " + rounds + ": 1 to 100");
        require(millis >= 10 && millis <= 10_000, "--millis " + millis + ": 10 to 10000");
        FecWork work = new FecWork(k, m, bytes);
        rate(work); // The compiler's.
        CRC32 crc = new CRC32();
        crc.update(work.repairs());
        System.out.println("MB of data packets for each second of processor time, " + k + " + " + m + " of " + bytes
                + " bytes, median of " + rounds + " rounds");
        List<Double> own = new ArrayList<>();
        List<Double> isal = new ArrayList<>();
        try (Processes processes = new Processes()) {
            String program = compile(processes.folder());
            for (int round = 0; round < rounds; round++) {
                own.add(rate(work));
                if (program != null) {
                    isal.add(rate(program, "%08x".formatted(crc.getValue())));
                }
            }
        }
        System.out.printf("Fec    %,.0f%n", median(own));
        if (!isal.isEmpty()) {
            System.out.printf("ISA-L  %,.0f%nratio  %.2f%n", median(isal), median(own) / median(isal));
        }
        return 0;
    }

    /** Returns the program; null where it cannot be made, which is said. */
    private static @Nullable String compile(Path folder) {
        try {
            return InPlace.compileSource(SOURCE, folder, "-lisal").toString();
        } catch (IOException e) {
            System.out.println("ISA-L  left out: " + e.getMessage() + " (Debian: gcc, libisal-dev)");
            return null;
        }
    }

    private double rate(FecWork work) {
        long began = threads.getCurrentThreadCpuTime();
        long ns;
        long blocks = 0;
        int sum = 0;
        do {
            for (int i = 0; i < 64; i++) {
                sum += work.encode();
            }
            blocks += 64;
            ns = threads.getCurrentThreadCpuTime() - began;
        } while (ns < millis * 1_000_000L);
        return sum == Integer.MIN_VALUE ? 0 : blocks * k * bytes * 1e3 / ns;
    }

    private double rate(String program, String wantedCrc) throws IOException {
        String[] said = Shell.run(List.of(program, "" + k, "" + m, "" + bytes, "" + millis))
                .split(" ");
        if (!said[0].equals(wantedCrc)) {
            throw new IOException("ISA-L's repairs have the CRC " + said[0] + ", those of Fec " + wantedCrc
                    + ": they must be the same");
        }
        return Double.parseDouble(said[1]) * k * bytes * 1e3 / Double.parseDouble(said[2]);
    }

    private static double median(List<Double> rates) {
        List<Double> sorted = rates.stream().sorted().toList();
        return sorted.get(sorted.size() / 2);
    }
}
