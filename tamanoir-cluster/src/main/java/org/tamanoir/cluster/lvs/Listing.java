package org.tamanoir.cluster.lvs;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * What {@code ipvsadm -L -n} prints, with whichever columns of numbers:
 *
 * <pre>
 *   IP Virtual Server version 1.2.1 (size=4096)
 *   Prot LocalAddress:Port               Conns   InPkts  OutPkts  InBytes OutBytes
 *     -> RemoteAddress:Port
 *   TCP  10.0.0.1:3322                       7       42        0     2520        0
 *     -> 10.0.1.11:3322                      7       42        0     2520        0
 * </pre>
 *
 * Services of other kinds than TCP and UDP at an address and port are left out.
 */
final class Listing {
    private static final int HEADINGS = 3;

    /**
     * The numbers of a service.
     *
     * @param own empty where the listing has none for services
     * @param servers by address and port
     */
    record Row(List<Long> own, Map<String, List<Long>> servers) {}

    private final int columns;
    private final boolean totals;
    private final SortedMap<VirtualAddress, Row> rows = new TreeMap<>();
    private @Nullable Row current;

    private Listing(int columns, boolean totals) {
        this.columns = columns;
        this.totals = totals;
    }

    /** Reads {@code --stats} or {@code --rate}, with {@code --exact}: services have the same columns as back-ends. */
    static SortedMap<VirtualAddress, Row> withTotals(String text, int columns) throws ClusterException {
        return new Listing(columns, true).read(text);
    }

    /** Reads all others: services have words instead. */
    static SortedMap<VirtualAddress, Row> ofServers(String text, int columns) throws ClusterException {
        return new Listing(columns, false).read(text);
    }

    private SortedMap<VirtualAddress, Row> read(String text) throws ClusterException {
        List<String> lines = text.lines().toList();
        if (lines.size() < HEADINGS || !lines.get(0).startsWith("IP Virtual Server version 1.")) {
            throw new ClusterException("ipvsadm's list begins with '" + (lines.isEmpty() ? "" : lines.get(0))
                    + "' instead of 'IP Virtual Server version 1.': Debian's ipvsadm 1.31 is what is known here");
        }
        for (String line : lines.subList(HEADINGS, lines.size())) {
            try {
                read(line.strip().split("\\s+"));
            } catch (IllegalArgumentException e) {
                throw new ClusterException("ipvsadm's line '" + line.strip() + "' is not understood: " + e.getMessage()
                        + "; Debian's ipvsadm 1.31 is what is known here");
            }
        }
        return rows;
    }

    private void read(String[] words) {
        switch (words[0]) {
            case "TCP" -> begin(Protocol.TCP, words);
            case "UDP" -> begin(Protocol.UDP, words);
            case "FWM", "SCTP" -> current = null;
            case "->" -> {
                if (current != null) {
                    current.servers().put(endpoint(words), numbers(words));
                }
            }
            case "" -> {}
            default -> throw new IllegalArgumentException("'" + words[0] + "' is no protocol");
        }
    }

    private void begin(Protocol protocol, String[] words) {
        VirtualAddress at = TableEditor.at(protocol, endpoint(words));
        current = at == null ? null : new Row(totals ? numbers(words) : List.of(), new TreeMap<>());
        if (at != null && current != null) {
            rows.put(at, current);
        }
    }

    private static String endpoint(String[] words) {
        if (words.length < 2) {
            throw new IllegalArgumentException("no address");
        }
        return words[1];
    }

    private List<Long> numbers(String[] words) {
        if (words.length < 2 + columns) {
            throw new IllegalArgumentException(columns + " numbers are wanted");
        }
        List<Long> numbers = new ArrayList<>();
        for (String word : Arrays.asList(words).subList(words.length - columns, words.length)) {
            numbers.add(Long.parseUnsignedLong(word));
        }
        return numbers;
    }
}
