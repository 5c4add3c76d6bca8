package org.tamanoir.node.tc;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A class of HTB as {@code tc -s -d class show} prints it. {@code tc} rounds rates down to four digits or so: to within
 * a thousandth.
 *
 * @param parent the qdisc for a class at the root
 * @param kept what a change must say again, or the kernel forgets it: priority, quantum, bursts
 * @param unkept what a change would lose, in tc's words; empty = nothing
 * @param sentBytes since the class exists
 * @param droppedPackets likewise
 */
record HtbClass(
        String id,
        String parent,
        Map<String, String> kept,
        String unkept,
        long rateBytesPerSecond,
        long ceilBytesPerSecond,
        long sentBytes,
        long droppedPackets,
        long backlogBytes) {
    private static final Set<String> KEPT = Set.of("prio", "quantum", "burst", "cburst");
    private static final Pattern RATE = Pattern.compile("(\\d{1,15})([KMGT]?)bit");
    private static final Pattern SENT = Pattern.compile(" *Sent (\\d{1,18}) bytes \\d+ pkt \\(dropped (\\d{1,18}),.*");
    /** With a rate estimator (tc class add ... estimator) the line begins with what that says. */
    private static final Pattern BACKLOG = Pattern.compile(".*\\bbacklog (\\d{1,15})([KMG]?)b .*");

    /**
     * Reads what tc printed, by identifier; lines that say nothing about a class of HTB are skipped.
     *
     * @throws IllegalArgumentException in one line, if a class has no rate, or one of an unknown form
     */
    static Map<String, HtbClass> parse(String output) {
        Map<String, HtbClass> classes = new LinkedHashMap<>();
        HtbClass last = null;
        for (String line : output.split("\\R")) {
            Matcher sent = SENT.matcher(line);
            Matcher backlog = BACKLOG.matcher(line);
            if (line.startsWith("class ")) {
                last = line.startsWith("class htb ") ? first(line) : null;
            } else if (last != null && sent.matches()) {
                last = last.with(Long.parseLong(sent.group(1)), Long.parseLong(sent.group(2)), last.backlogBytes);
            } else if (last != null && backlog.matches()) {
                long unit = 1L << (10 * (1 + "KMG".indexOf(backlog.group(2))));
                long bytes =
                        Long.parseLong(backlog.group(1)) * (backlog.group(2).isEmpty() ? 1 : unit);
                last = last.with(last.sentBytes, last.droppedPackets, bytes);
            }
            if (last != null) {
                classes.put(last.id, last);
            }
        }
        return classes;
    }

    private static HtbClass first(String line) {
        List<String> words = List.of(line.strip().split(" +"));
        String id = words.get(2);
        Map<String, String> said = new LinkedHashMap<>();
        for (int i = 3; i + 1 < words.size(); i++) {
            said.putIfAbsent(words.get(i), words.get(i + 1));
        }
        Map<String, String> kept = new LinkedHashMap<>();
        said.forEach((key, value) -> {
            if (KEPT.contains(key)) {
                kept.put(key, value.replaceAll("/.*", ""));
            }
        });
        List<String> unkept = new ArrayList<>();
        said.forEach((key, value) -> {
            if (key.equals("overhead")
                    || key.equals("mpu") && !value.equals("0b")
                    || key.equals("linklayer") && !value.equals("ethernet")) {
                unkept.add(key + " " + value);
            }
        });
        String root = id.substring(0, id.indexOf(':') + 1);
        return new HtbClass(
                id,
                said.getOrDefault("parent", root),
                kept,
                String.join(", ", unkept),
                rate(line, said.get("rate")),
                rate(line, said.get("ceil")),
                0,
                0,
                0);
    }

    private static long rate(String line, @Nullable String text) {
        Matcher rate = RATE.matcher(String.valueOf(text));
        if (!rate.matches()) {
            throw new IllegalArgumentException(
                    "no rate in '" + line.strip() + "': install an iproute2 of 4.0 or later");
        }
        long bits = Long.parseLong(rate.group(1));
        for (int i = "KMGT".indexOf(rate.group(2)); !rate.group(2).isEmpty() && i >= 0; i--) {
            bits = Math.multiplyExact(bits, 1000L);
        }
        return bits / 8;
    }

    private HtbClass with(long sent, long dropped, long backlog) {
        return new HtbClass(id, parent, kept, unkept, rateBytesPerSecond, ceilBytesPerSecond, sent, dropped, backlog);
    }

    /** Returns what is kept, with the bursts that a class had. */
    static Map<String, String> merged(Map<String, String> now, Map<String, String> had) {
        Map<String, String> merged = new LinkedHashMap<>(now);
        merged.replaceAll((key, value) -> {
            String before = key.endsWith("burst") ? had.getOrDefault(key, value) : value;
            return before.equals("-") ? value : before;
        });
        return merged;
    }

    /** Returns the same class with another rate and ceil. */
    HtbClass with(long rate, long ceil) {
        return new HtbClass(id, parent, kept, unkept, rate, ceil, sentBytes, droppedPackets, backlogBytes);
    }

    /** Tells whether another one has the same rate and ceil, as exactly as tc prints them. */
    boolean isLike(HtbClass other) {
        return near(rateBytesPerSecond, other.rateBytesPerSecond) && near(ceilBytesPerSecond, other.ceilBytesPerSecond);
    }

    private static boolean near(long one, long other) {
        return Math.abs(one - other) <= Math.max(one, other) / 1000 + 1;
    }

    /** Returns the arguments by which tc makes a class on a device what this one says. */
    List<String> change(String device) {
        List<String> command =
                new ArrayList<>(List.of("class", "change", "dev", device, "parent", parent, "classid", id, "htb"));
        command.addAll(List.of("rate", rateBytesPerSecond * 8 + "bit", "ceil", ceilBytesPerSecond * 8 + "bit"));
        kept.forEach((key, value) -> command.addAll(List.of(key, value)));
        return command;
    }

    /** Returns why the tree has no place for this class as it is to be; empty = it has. */
    String whyNot(Map<String, HtbClass> tree) {
        if (!unkept.isEmpty()) {
            return "it has " + unkept + ", which a change would lose: leave that out of the class";
        }
        if (tree.values().stream().anyMatch(other -> other.parent.equals(id))) {
            return "it has classes below it: name a leaf";
        }
        HtbClass now = tree.get(id);
        HtbClass above = tree.get(parent);
        if (above == null || now != null && rateBytesPerSecond <= now.rateBytesPerSecond) {
            return "";
        }
        long others = tree.values().stream()
                .filter(other -> other.parent.equals(parent) && !other.id.equals(id))
                .mapToLong(HtbClass::rateBytesPerSecond)
                .sum();
        return others + rateBytesPerSecond <= above.ceilBytesPerSecond
                ? ""
                : rateText(rateBytesPerSecond) + " and " + rateText(others)
                        + " of its neighbours are above the ceil of " + rateText(above.ceilBytesPerSecond) + " of "
                        + parent + ": lower one of them";
    }

    /** Returns a rate as lines show it, to within a thousandth. */
    static String rateText(long bytesPerSecond) {
        long bits = bytesPerSecond * 8;
        int unit = 0;
        while (unit < 3 && bits >= 1000 && (bits % 1000 == 0 || bits >= 1_000_000)) {
            bits /= 1000;
            unit++;
        }
        return bits + List.of("", "k", "M", "G").get(unit) + "bit/s";
    }

    /** Returns rate and ceil as lines show them. */
    String shares() {
        return rateText(rateBytesPerSecond) + ", ceil " + rateText(ceilBytesPerSecond);
    }
}
