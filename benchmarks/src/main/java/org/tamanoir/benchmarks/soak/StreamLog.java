package org.tamanoir.benchmarks.soak;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** What the node's access log says of the streams that have ended. One thread. */
final class StreamLog {
    private final Map<String, Ledger.Entry> whole = new HashMap<>();
    private final Map<String, Long> drops = new TreeMap<>();
    private @Nullable String disorder;
    private long packetsOut;
    private long streams;
    private boolean isComplete = true;

    /** Reads all lines. */
    static StreamLog read(List<Path> files) throws IOException {
        StreamLog log = new StreamLog();
        String prefix = Bed.loopback(Senders.WHOLE_NET, 0).getHostAddress();
        String net = prefix.substring(0, prefix.lastIndexOf('.') + 1);
        // The node keeps the last file but one; what was before may be gone.
        log.isComplete = files.size() == 1;
        for (Path file : files) {
            try (BufferedReader lines = Files.newBufferedReader(file)) {
                String line;
                while ((line = lines.readLine()) != null) {
                    log.add(JsonMapper.shared().readTree(line), net);
                }
            }
        }
        return log;
    }

    private void add(JsonNode line, String wholeNet) {
        streams++;
        packetsOut += line.path("packetsOut").asLong();
        line.path("drops")
                .properties()
                .forEach(each -> drops.merge(each.getKey(), each.getValue().asLong(), Long::sum));
        String peer = line.path("peer").asString("");
        if (!peer.startsWith(wholeNet)) {
            return;
        }
        Ledger.Entry counts = new Ledger.Entry(
                line.path("packetsIn").asLong(),
                line.path("bytesIn").asLong(),
                line.path("packetsOut").asLong(),
                line.path("bytesOut").asLong());
        whole.merge(peer, counts, Ledger.Entry::plus);
        boolean inOrder = line.path("end").asString("").equals("finished")
                && line.path("drops").isEmpty();
        if (!inOrder && disorder == null) {
            disorder = "the node's log says of the whole stream of " + peer + ": " + line;
        }
    }

    /** Returns the first difference between the node's counts and those of senders and far ends; null = none. */
    @Nullable
    String difference(Ledger ledger) {
        if (disorder != null) {
            return disorder;
        }
        for (Map.Entry<String, Ledger.Entry> each : ledger.all()) {
            Ledger.Entry logged = whole.get(each.getKey());
            if (logged == null) {
                return "the node's log has no stream of " + each.getKey() + ", which had " + each.getValue();
            }
            if (!logged.equals(each.getValue())) {
                return "stream of " + each.getKey() + ": senders and far ends counted " + each.getValue()
                        + ", the node " + logged;
            }
        }
        return null;
    }

    /** Returns whether it has all streams of the run. */
    boolean isComplete() {
        return isComplete;
    }

    /** Packets that left by streams, replies included. */
    long packetsOut() {
        return packetsOut;
    }

    long drops(String reason) {
        return drops.getOrDefault(reason, 0L);
    }

    long streams() {
        return streams;
    }
}
