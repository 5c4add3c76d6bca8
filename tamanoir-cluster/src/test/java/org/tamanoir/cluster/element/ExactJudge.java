package org.tamanoir.cluster.element;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.tamanoir.cluster.element.ExactSchedule.Item;

/**
 * Judges what an aggregator did by what distributors placed, in which order, and what came: it knows starts and the order of
 * placing, and of rounds and windows no more than how far apart packets of a path may be.
 */
final class ExactJudge {
    /** What came of one path and start in one run of the aggregator, by the places of its items. */
    private static final class Seen {
        final BitSet came = new BitSet();
        /** Items with which the path's stays begin. */
        final BitSet stays;
        /** What came when a later start had shown itself on the path. */
        final BitSet afterwards = new BitSet();
        /** Of what came, that which came first. */
        int first;

        Seen(BitSet stays, int first) {
            this.stays = stays;
            this.first = first;
        }

        /** Returns the items missing before later ones, and those that came when a later start had shown itself. */
        int holes() {
            return Math.max(came.length(), afterwards.length()) - came.cardinality();
        }

        /** Returns those of them that nothing but loss explains: behind the first that came, and within one stay. */
        int sureHoles() {
            int unsure = first - came.get(0, first).cardinality();
            for (int stay = stays.nextSetBit(first); stay >= 0; stay = stays.nextSetBit(stay + 1)) {
                int next = came.nextSetBit(stay);
                int last = came.previousSetBit(stay - 1);
                unsure += next < 0 || last < 0 ? 0 : next - last - 1;
            }
            afterwards.andNot(came);
            return Math.max(0, came.length() - came.cardinality() - unsure - afterwards.cardinality());
        }
    }

    /** What a start placed on one path. */
    private static final class Placed {
        /** Items with which the path's stays begin. */
        final BitSet stays = new BitSet();
        /** By its further stays: the rounds for which it was away before, and in which run an announcement came in time. */
        final List<Long> away = new ArrayList<>();

        final Map<Integer, Integer> announced = new HashMap<>();
        /** Of the items: the round of the last one, and how many there are. */
        long round;

        int items;

        /** Returns the first item of a further stay. */
        int firstOf(int stay) {
            return stays.stream().skip(stay).findFirst().orElse(items);
        }
    }

    private final int paths;
    private final Map<Integer, Placed> placed = new HashMap<>();
    private final List<Item> wanted = new ArrayList<>();
    private boolean wantsAll;
    private @Nullable String fault;
    private long newestRound;
    private int comings;
    private int starts;

    // Of this run of the aggregator.
    private int run;
    private long open;
    private final List<TreeMap<Integer, Seen>> seen = new ArrayList<>();
    private boolean drains;
    private @Nullable Item offered;
    private @Nullable Item lastEmitted;
    private @Nullable Item newest;
    /** Before the item that came last. */
    private @Nullable Item newestBefore;

    ExactJudge(int paths) {
        this.paths = paths;
    }

    void fault(String text) {
        if (fault == null) {
            fault = text;
        }
    }

    @Nullable
    String verdict() {
        return fault;
    }

    private static boolean isBefore(Item a, Item b) {
        return a.start != b.start ? a.start < b.start : a.index < b.index;
    }

    private Placed placed(int start, int path) {
        return placed.computeIfAbsent(start * paths + path, any -> new Placed());
    }

    void placed(Item item) {
        Placed its = placed(item.start, item.path);
        if (item.isAnnouncement()) {
            comings++;
            item.place = its.away.size();
            item.before = its.items;
        } else {
            if (item.beginsStay) {
                its.stays.set(item.place);
                its.away.add(item.round - its.round);
            }
            its.round = item.round;
            its.items = item.place + 1;
        }
        if (wantsAll && item.isPacket) {
            wanted.add(item);
        }
        newestRound = Math.max(newestRound, item.round);
        starts = Math.max(starts, item.start);
    }

    /** Returns the highest round of all, as units of a ring report it. */
    long newestRound() {
        return newestRound;
    }

    /** From now on each packet has to leave. */
    void wantAll() {
        wantsAll = true;
    }

    void begins() {
        run++;
        open = 0;
        drains = false;
        seen.clear();
        for (int path = 0; path < paths; path++) {
            seen.add(new TreeMap<>());
        }
        lastEmitted = null;
        newest = null;
    }

    void offered(Item item) {
        open++;
        item.open++;
        offered = item;
        if (item.isStray()) {
            return;
        }
        newestBefore = newest;
        if (newest == null || isBefore(newest, item)) {
            newest = item;
        }
        if (item.isAnnouncement()) {
            announced(item);
        } else {
            TreeMap<Integer, Seen> starts = seen.get(item.path);
            Seen its =
                    starts.computeIfAbsent(item.start, start -> new Seen(placed(start, item.path).stays, item.place));
            (starts.lastKey() == item.start ? its.came : its.afterwards).set(item.place);
        }
    }

    /** Of a path the announcement that came last is known, until the path has shown itself. */
    private void announced(Item item) {
        for (int start = 0; start <= starts; start++) {
            int shown = shown(start, item.path);
            Placed its = placed(start, item.path);
            its.announced.keySet().removeIf(stay -> its.firstOf(stay) >= shown);
        }
        if (shown(item.start, item.path) <= item.before) {
            placed(item.start, item.path).announced.put(item.place, run);
        }
    }

    private int shown(int start, int path) {
        Seen its = seen.get(path).get(start);
        return its == null ? 0 : its.came.length();
    }

    void emitted(Item item) {
        ended(item);
        if (item.isStray()) {
            if (!drains) {
                fault(item + " left, and was damaged");
            }
            return;
        }
        if (!item.isPacket) {
            fault(item + " left, and is a marker");
        }
        if (lastEmitted != null && !isBefore(lastEmitted, item)) {
            fault(item + " left behind " + lastEmitted);
        }
        lastEmitted = item;
        item.doneIn = run;
    }

    void dropped(Item item, boolean isMarker) {
        ended(item);
        if (item.isStray()) {
            return;
        }
        Item last = offered;
        if (!isMarker && last != null && last != item) {
            givenUp(item, last);
        } else if (isMarker) {
            if (item.isPacket) {
                fault(item + " counts as a marker");
            }
            item.doneIn = run;
        } else if (!hasLater(item) && item.doneIn != run && item.open == 0) {
            fault(item + " is late, and nothing later has come");
        }
    }

    /**
     * What waits ends as late when its path goes on elsewhere: with a damaged packet, another start, or so far behind that
     * all of its rounds between were lost. It counts as if it had not come.
     */
    private void givenUp(Item item, Item because) {
        boolean isElsewhere = because.isStray() || because.start != item.start;
        if (because.path != item.path || !isElsewhere && because.round - item.round <= ExactMerge.WINDOW) {
            fault(item + " was given up, and " + because + " came");
        }
        Seen its = seen.get(item.path).get(item.start);
        if (its != null) {
            its.came.clear(item.place);
            its.afterwards.clear(item.place);
            if (its.came.isEmpty()) {
                seen.get(item.path).remove(item.start);
            } else if (item.place == its.first) {
                its.first = its.came.nextSetBit(0);
            }
        }
    }

    /** Markers of a round are placed before its packets, so that some of those are behind them in order. */
    private boolean hasLater(Item item) {
        Item its = newestBefore;
        return its != null
                && (its.start > item.start || its.start == item.start && its.index + 2 * paths >= item.index);
    }

    private void ended(Item item) {
        open--;
        if (--item.open < 0) {
            fault(item + " ended more often than it came");
        }
    }

    /** Nothing comes any more: what waits leaves, damaged or not. */
    void drains() {
        drains = true;
    }

    void ends(long held, long gaps) {
        if (held != 0 || open != 0) {
            fault(open + " of what came have not ended, " + held + " held");
        }
        for (Item item : wanted) {
            if (item.doneIn != run) {
                fault(item + " did not leave in the calm");
            }
        }
        long least = 0;
        long most = comings; // One that was lost may be a gap, too.
        for (TreeMap<Integer, Seen> starts : seen) {
            for (Seen its : starts.values()) {
                most += its.holes();
                least += its.sureHoles();
            }
        }
        for (Placed its : placed.values()) {
            for (int stay = 0; stay < its.away.size(); stay++) {
                most += its.announced.getOrDefault(stay, 0) == run ? 0 : its.away.get(stay);
            }
        }
        if (gaps < least || gaps > most) {
            fault(gaps + " gaps, but " + least + " to " + most + " items never came");
        }
    }
}
