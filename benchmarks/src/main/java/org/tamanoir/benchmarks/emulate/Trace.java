package org.tamanoir.benchmarks.emulate;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;

/**
 * Arrivals from a file, whose times count from its first packet. What cannot be read ends the run: nothing is invented
 * for it.
 */
abstract class Trace implements Arrivals, AutoCloseable {
    /** The longest packet there is, of ANEP and of IP. */
    static final int MAX_BYTES = 65_535;

    /** From the first packet to the last: 31 years. */
    private static final long MAX_NS = 1_000_000_000_000_000_000L;

    final InputStream in;
    private final String name;
    private long packets;
    private long firstNs;
    /** Least: no packet had a time. */
    private long lastNs = Long.MIN_VALUE;

    Trace(InputStream in, String name) {
        this.in = in;
        this.name = name;
    }

    /**
     * Opens a trace: *.csv, else pcap or pcapng by its first bytes.
     *
     * @param services that a CSV file may name
     */
    static Trace open(Path file, List<String> services) throws IOException {
        if (!Files.isRegularFile(file)) {
            throw new IOException(file + ": must be a file, or a model: constant, poisson, pareto");
        }
        InputStream in = new BufferedInputStream(Files.newInputStream(file), 1 << 16);
        try {
            String name = String.valueOf(file.getFileName());
            return name.toLowerCase(Locale.ROOT).endsWith(".csv")
                    ? new CsvTrace(in, name, services)
                    : new CaptureTrace(in, name);
        } catch (IOException | RuntimeException e) {
            in.close();
            throw e;
        }
    }

    /** Begins a packet, which errors name from now on. */
    final void begin() {
        packets++;
    }

    /** Sets the packet's time from that of the file. */
    final void at(long fileNs, Arrival into) throws IOException {
        if (lastNs == Long.MIN_VALUE) {
            firstNs = fileNs;
        }
        if (fileNs < lastNs) {
            throw fault("its time is " + (lastNs - fileNs)
                    + " ns before that of the packet before it: sort the file by time (reordercap)");
        }
        if (fileNs - firstNs > MAX_NS) {
            throw fault("its time is " + (fileNs - firstNs) / 1_000_000_000
                    + " s after that of the first: must be at most " + MAX_NS / 1_000_000_000);
        }
        lastNs = fileNs;
        into.ns = fileNs - firstNs;
    }

    /** Returns an error of one line, about the packet that is being read. */
    final IOException fault(String what) {
        return new IOException(name + (packets == 0 ? "" : ", packet " + packets) + ": " + what);
    }

    @Override
    public final void close() throws IOException {
        in.close();
    }
}
