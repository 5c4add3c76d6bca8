package org.tamanoir.services.morph.handler;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.tamanoir.format.Format;
import org.tamanoir.format.FormatException;
import org.tamanoir.format.FormatFault;
import org.tamanoir.format.RecordView;
import org.tamanoir.format.Target;
import org.tamanoir.message.Bound;
import org.tamanoir.message.Message;
import org.tamanoir.message.MessageHandler;
import org.tamanoir.message.Needs;
import org.tamanoir.message.Outcome;
import org.tamanoir.message.Outlet;

/**
 * Merges records of several formats into one: by key, as soon as one of each part is there; without a key by window, at
 * whose end what has come is merged. No record waits for its partners longer than the window, and so partners are at most
 * a window apart. What comes out travels under the header of the first part.
 *
 * <p>Where memory or the number of records is at its bound, the oldest give way.
 */
final class Merge implements MessageHandler {
    static final String NO_PARTNER = "merge: no partner within the window";
    static final String DUPLICATE = "merge: a partner of this part waits already";
    static final String REPLACED = "merge: replaced by a newer one";
    static final String MEMORY = "merge: gave way to newer ones, memory is full";
    static final String TOO_LARGE = "merge: larger than the state";
    static final String FAILED = "merge: its fields do not fit the output";

    private static final int MAX_PARTS = 16;
    private static final long LONGEST_NS = 86_400_000_000_000L;
    /** Records whose wait is ended in one call, so that none takes long. */
    private static final int ENDED_A_CALL = 1_000;

    private final List<Part> parts = new ArrayList<>();
    private final Assembly assembly;
    /** Null where a key says what belongs together. */
    private final @Nullable Window window;

    private final long waitNs;
    private final boolean replaces;
    private final boolean fillsMissing;
    private final long stateBytes;
    private final HeldRecords held;
    /** Where those that belong together lie, by part; valid for the parts in the set that {@link #gather} returned. */
    private final int[] places;

    private final RecordView held1 = new RecordView();
    private final RecordView held2 = new RecordView();
    private final Message merged = new Message();

    private record Part(Target target, Key key) {
        Format format() {
            return target.format();
        }
    }

    Merge(HandlerSettings settings) {
        List<String> from = settings.texts("from");
        if (from.size() < 2 || from.size() > MAX_PARTS) {
            throw settings.problem("from", from.size() + " formats: 2 to " + MAX_PARTS + " are merged");
        }
        List<String> names = names(from);
        boolean keyed = settings.has("key");
        window = keyed ? null : new Window(settings);
        waitNs = keyed ? settings.durationNs("window", "5s", 1_000, LONGEST_NS) : Long.MAX_VALUE;
        long seed = ThreadLocalRandom.current().nextLong();
        boolean areByPart = keyed && settings.list("key").stream().anyMatch(Map.class::isInstance);
        HandlerSettings keys = areByPart ? settings.items("key", "").get(0) : null;
        for (int i = 0; i < from.size(); i++) {
            Target target = settings.targetOf("from", from.get(i));
            parts.add(new Part(target, key(settings, keys, names.get(i), target.format(), seed)));
        }
        assembly =
                new Assembly(settings, names, parts.stream().map(Part::format).toList());
        replaces = settings.choice("duplicate", keyed ? "drop" : "replace", "drop", "replace")
                .equals("replace");
        fillsMissing = settings.choice("missing", "drop", "drop", "empty").equals("empty");
        stateBytes = settings.bytes("state", "16MiB", 1 << 12, 1 << 30);
        held = new HeldRecords(stateBytes, settings.number("messages", 1_000_000, 1, 1 << 24));
        places = new int[parts.size()];
    }

    /** Names the parts after their formats: the second of one format flight is flight_2. */
    private static List<String> names(List<String> from) {
        List<String> names = new ArrayList<>();
        for (int i = 0; i < from.size(); i++) {
            String format = from.get(i);
            long before = from.subList(0, i).stream().filter(format::equals).count();
            names.add(before == 0 ? format : format + "_" + (before + 1));
        }
        return names;
    }

    /** @param byPart fields by part; null: they have the same names in all parts */
    private Key key(HandlerSettings settings, @Nullable HandlerSettings byPart, String part, Format format, long seed) {
        List<String> fields = byPart != null ? byPart.texts(part) : settings.texts("key");
        if (byPart != null && fields.isEmpty()) {
            throw settings.problem("key." + part, "is missing: name the fields of " + part);
        }
        try {
            Key key = new Key(format, fields, seed);
            if (!parts.isEmpty()) {
                parts.get(0).key.requireComparable(key);
            }
            return key;
        } catch (FormatException e) {
            throw settings.problem("key", e.getMessage());
        }
    }

    @Override
    public List<Target> inputs() {
        return parts.stream().map(Part::target).distinct().toList();
    }

    @Override
    public Bound bind(Format input) {
        int own = 0;
        for (int i = 0; i < parts.size(); i++) {
            own |= parts.get(i).format().id().equals(input.id()) ? 1 << i : 0;
        }
        if (own == 0) {
            throw new FormatException(
                    FormatFault.CONVERSION,
                    "merge takes " + parts.stream().map(p -> p.format().name()).collect(Collectors.joining(", "))
                            + ", not " + input.name());
        }
        return new Input(own);
    }

    /** Messages of one format, which may be several of the parts. */
    private final class Input implements Bound {
        private final int own;
        private final Part first;
        private final RecordView view = new RecordView();

        Input(int own) {
            this.own = own;
            first = parts.get(Integer.numberOfTrailingZeros(own));
        }

        @Override
        public Format output(int port) {
            return assembly.output();
        }

        @Override
        public Outcome handle(Message message, Outlet outlet) {
            RecordView record = message.record();
            if (record.format() != first.format()) {
                // The same description, read a second time.
                record = view.wrap(first.format(), record.memory(), record.start(), record.length());
            }
            return take(message, record, own, first.key, outlet);
        }
    }

    private Outcome take(Message message, RecordView record, int own, Key key, Outlet outlet) {
        long nowNs = outlet.nowNs();
        expire(nowNs, outlet);
        int hash = key.hash(record);
        int there = gather(hash, key, record, nowNs);
        int free = own & ~there;
        if (free == 0 && !replaces) {
            return outlet.drop(DUPLICATE);
        }
        int part = Integer.numberOfTrailingZeros(free == 0 ? own : free);
        if (free == 0) {
            held.free(places[part]);
            outlet.release(1, REPLACED);
            there &= ~(1 << part);
        }
        if (window == null && (there | 1 << part) == (1 << parts.size()) - 1) {
            return complete(message, record, part, there, outlet);
        }
        Outcome outcome = hold(message, record, hash, part, nowNs, outlet);
        if (window != null) {
            window.enter(nowNs);
            endWindow(nowNs, outlet);
        }
        return outcome;
    }

    /** Finds what belongs together, and returns the set of the parts that are there. */
    private int gather(int hash, Key key, RecordView record, long nowNs) {
        int there = 0;
        for (int at = held.first(hash); at != HeldRecords.NONE; at = held.next(at)) {
            int part = held.tag(at);
            Part other = parts.get(part);
            if (Math.abs(nowNs - held.sinceNs(at)) < waitNs
                    && key.equals(record, other.key, held.view(at, other.format(), held1))) {
                places[part] = at;
                there |= 1 << part;
            }
        }
        return there;
    }

    private Outcome hold(Message message, RecordView record, int hash, int part, long nowNs, Outlet outlet) {
        boolean withHeader = part == 0 || fillsMissing;
        while (held.add(hash, part, nowNs, message, withHeader, record, 0) == HeldRecords.NONE) {
            int oldest = held.oldest();
            if (oldest == HeldRecords.NONE) {
                return outlet.drop(TOO_LARGE);
            }
            held.free(oldest);
            outlet.release(1, MEMORY);
        }
        return Outcome.HOLD;
    }

    /** Merges a message with those that wait for it. */
    private Outcome complete(Message message, RecordView record, int part, int there, Outlet outlet) {
        int partners = parts.size() - 1;
        try {
            assembly.begin();
            assembly.add(part, record);
            addHeld(there);
        } catch (FormatException e) {
            free(there);
            outlet.release(partners, FAILED);
            throw e;
        }
        int length = assembly.finish();
        if (part == 0) {
            merged.wrapLike(message, assembly.output(), assembly.memory(), 0, length);
        } else {
            held.wrap(places[0], merged, assembly.output(), assembly.memory(), 0, length, message.arrivalNs());
        }
        free(there);
        outlet.release(partners, null);
        outlet.emit(0, merged);
        return Outcome.MERGE;
    }

    private void addHeld(int there) {
        for (int i = 0; i < places.length; i++) {
            if ((there & 1 << i) != 0) {
                assembly.add(i, held.view(places[i], parts.get(i).format(), held1));
            }
        }
    }

    /** Frees the records; the memory that they lie in stays as it is until another one is held. */
    private void free(int there) {
        for (int i = 0; i < places.length; i++) {
            if ((there & 1 << i) != 0) {
                held.free(places[i]);
            }
        }
    }

    @Override
    public long expire(long nowNs, Outlet outlet) {
        if (window != null) {
            endWindow(nowNs, outlet);
            return window.endNs();
        }
        for (int i = 0; i < ENDED_A_CALL; i++) {
            int oldest = held.oldest();
            if (oldest == HeldRecords.NONE) {
                return Long.MAX_VALUE;
            }
            if (nowNs - held.sinceNs(oldest) < waitNs) {
                return held.sinceNs(oldest) + waitNs;
            }
            end(oldest, outlet);
        }
        return nowNs;
    }

    private void endWindow(long nowNs, Outlet outlet) {
        if (window != null && window.isOver(nowNs)) {
            window.close();
            endAll(outlet);
        }
    }

    private void endAll(Outlet outlet) {
        for (int oldest = held.oldest(); oldest != HeldRecords.NONE; oldest = held.oldest()) {
            end(oldest, outlet);
        }
    }

    /** Ends the wait of the oldest record: with those of its partners that came, or without a result. */
    private void end(int oldest, Outlet outlet) {
        Part part = parts.get(held.tag(oldest));
        // All that wait came later; those that came a window later are no partners, though this one is ended late.
        int there = gather(held.hash(oldest), part.key, held.view(oldest, part.format(), held2), held.sinceNs(oldest));
        boolean whole = there == (1 << parts.size()) - 1;
        if (!whole && !fillsMissing) {
            held.free(oldest);
            outlet.release(1, NO_PARTNER);
            return;
        }
        int records = Integer.bitCount(there);
        try {
            assembly.begin();
            addHeld(there);
        } catch (FormatException e) {
            free(there);
            outlet.release(records, FAILED);
            return;
        }
        int under = (there & 1) != 0 ? places[0] : oldest;
        held.wrap(under, merged, assembly.output(), assembly.memory(), 0, assembly.finish(), lastArrival(there));
        free(there);
        outlet.release(records, null);
        outlet.emit(0, merged);
    }

    private long lastArrival(int there) {
        int any = Integer.numberOfTrailingZeros(there);
        long last = held.arrivalNs(places[any]);
        for (int i = any + 1; i < places.length; i++) {
            if ((there & 1 << i) != 0) {
                last += Math.max(0, held.arrivalNs(places[i]) - last);
            }
        }
        return last;
    }

    @Override
    public void finish(Outlet outlet) {
        endAll(outlet);
    }

    @Override
    public long heldBytes() {
        return held.bytes();
    }

    /** Needs the state, and an eighth of it for the table of those that wait. */
    @Override
    public Needs needs() {
        return new Needs(stateBytes + stateBytes / 8, 0);
    }
}
