package org.tamanoir.cluster.lvs;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * All changes of a plan, or none.
 *
 * <p>{@code ipvsadm --restore} goes on after a line that it could not do, does not tell which that was, and ends as the
 * last one did: so the table is read afterwards and compared with what the lines come to. New services are made first,
 * each in a run of its own: then it is sure which of them are ours, and none of another is ever taken back.
 *
 * <p>Thread contract: one thread, with the lock of {@link Ipvs}.
 */
final class Transaction {
    private final Ipvs ipvs;
    private final Plan plan;
    private final Set<VirtualAddress> concerned;
    private final LvsTable wanted;
    /** Services that this has made. */
    private final List<Change> made = new ArrayList<>();

    Transaction(Ipvs ipvs, Plan plan) throws ClusterException {
        this.ipvs = ipvs;
        this.plan = plan;
        concerned = plan.changes().stream().map(Change::at).collect(Collectors.toUnmodifiableSet());
        TableEditor editor = new TableEditor(plan.before());
        for (Change change : plan.changes()) {
            editor.run(change.line());
        }
        wanted = editor.table();
    }

    void run() throws ClusterException {
        LvsTable now = ipvs.read();
        for (VirtualAddress at : concerned) {
            if (!Objects.equals(now.services().get(at), plan.before().services().get(at))) {
                throw new ClusterException("virtual service " + at
                        + " changed between the look at the kernel's table and the change: nothing was done; look who"
                        + " else changes it (ipvsadm -L -n), or try again");
            }
        }
        for (Change change : plan.changes()) {
            if (makesService(change)) {
                make(change);
            }
        }
        List<Change> others =
                plan.changes().stream().filter(change -> !makesService(change)).toList();
        String words = others.isEmpty() ? "" : restore(lines(others));
        Change failed = failed();
        if (failed != null || !words.isEmpty()) { // it may complain though all is as wanted
            Change named = failed == null ? plan.changes().get(plan.changes().size() - 1) : failed;
            throw takenBack(named.line(), words, others);
        }
    }

    private void make(Change change) throws ClusterException {
        String words = restore(List.of(change.line()));
        if (!words.isEmpty()) {
            throw takenBack(change.line(), words, List.of());
        }
        made.add(change);
    }

    /** Returns what ipvsadm said, or why it could not be asked. */
    private String restore(List<String> lines) {
        try {
            return ipvs.restore(lines);
        } catch (ClusterException e) {
            return String.valueOf(e.getMessage());
        }
    }

    /** Returns the first change that is not in the table; null if all are. */
    private @Nullable Change failed() {
        try {
            LvsTable now = ipvs.read();
            for (Change change : plan.changes()) {
                if (!Objects.equals(spot(now, change), spot(wanted, change))) {
                    return change;
                }
            }
            return null;
        } catch (ClusterException e) {
            return plan.changes().get(0);
        }
    }

    /** Takes back what was done, and tells so. */
    private ClusterException takenBack(String line, String words, List<Change> others) {
        String what = "ipvsadm --restore: '" + line + "': "
                + (words.isEmpty() ? "not in the table afterwards, somebody else changes it too" : words);
        try {
            LvsTable now = ipvs.read();
            List<Change> undone = new ArrayList<>(made);
            others.stream()
                    .filter(change -> !Objects.equals(spot(now, change), spot(plan.before(), change)))
                    .forEach(undone::add);
            Collections.reverse(undone);
            String undoWords = undone.isEmpty()
                    ? ""
                    : ipvs.restore(undone.stream().map(Change::undo).toList());
            List<VirtualAddress> different = different(ipvs.read());
            return different.isEmpty()
                    ? new ClusterException(what + "; all was taken back")
                    : new ClusterException(what + "; could not be taken back at " + different
                            + (undoWords.isEmpty() ? "" : ": " + undoWords)
                            + ": somebody else changes it too (ipvsadm -L -n), end that and try again");
        } catch (ClusterException e) {
            return new ClusterException(
                    what + "; whether it was taken back is not known: " + e.getMessage() + "; look (ipvsadm -L -n)", e);
        }
    }

    /** Services that this changes or has made, and that are not as they were. */
    private List<VirtualAddress> different(LvsTable now) {
        Set<VirtualAddress> ours = made.stream().map(Change::at).collect(Collectors.toSet());
        return concerned.stream()
                .filter(at -> plan.before().services().containsKey(at) || ours.contains(at))
                .filter(at -> !Objects.equals(
                        now.services().get(at), plan.before().services().get(at)))
                .sorted()
                .toList();
    }

    /**
     * Returns what a change is about, in a table: a service without its back-ends, or one back-end; null where it is
     * not.
     */
    private static @Nullable Object spot(LvsTable table, Change change) {
        VirtualService service = table.services().get(change.at());
        String server = TableEditor.server(change.line());
        if (service == null) {
            return null;
        }
        return server == null ? service.with(List.of()) : service.servers().get(server);
    }

    private static boolean makesService(Change change) {
        return change.line().startsWith("-A ");
    }

    private static List<String> lines(List<Change> changes) {
        return changes.stream().map(Change::line).toList();
    }
}
