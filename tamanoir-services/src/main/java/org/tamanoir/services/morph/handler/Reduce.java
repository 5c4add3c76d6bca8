package org.tamanoir.services.morph.handler;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;
import org.tamanoir.format.Conversion;
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
 * Sums up the records of a window, group by group: one summary a group at the window's end, in the order in which the
 * groups began, under the header of the group's first message.
 *
 * <p>A group is its summary, written when its first record came, and a cell for each aggregate.
 */
final class Reduce implements MessageHandler {
    static final String MEMORY = "reduce: no memory for another group";
    static final String OVERFLOW = "reduce: a sum would need more than 64 bits";

    private static final int COUNT_CELL = 0;
    private static final int MAX_FORMATS = 64;
    /** Summaries of one call, so that none takes long. */
    private static final int SUMMARIES_A_CALL = 1_000;

    private final List<String> key;
    private final List<Aggregate.Wish> wishes = new ArrayList<>();
    private final String name;
    private final @Nullable Target declared;
    private final Window window;
    private final long stateBytes;
    private final HeldRecords groups;
    private final long seed = ThreadLocalRandom.current().nextLong();
    private final List<Summary> summaries = new ArrayList<>();
    private final RecordView view = new RecordView();
    private final Message made = new Message();
    /** Of the window that is open, or the last one. */
    private long number;

    Reduce(HandlerSettings settings) {
        key = settings.texts("key");
        settings.textMap("fields").forEach((field, text) -> wishes.add(Aggregate.Wish.of(settings, field, text)));
        if (wishes.isEmpty()) {
            throw settings.problem("fields", "is missing: say what to sum up, as in {flights: count, fuel: sum(fuel)}");
        }
        name = settings.text("output", "");
        declared = settings.names().formats().get(name);
        window = new Window(settings);
        stateBytes = settings.bytes("state", "16MiB", 1 << 12, 1 << 30);
        groups = new HeldRecords(stateBytes, settings.number("groups", 1_000_000, 1, 1 << 24));
    }

    /** What is done with records of one format; groups are shared by those whose summaries are of one format. */
    private final class Summary implements Bound {
        /** Of the first one that makes summaries of this format. */
        private final int tag;

        private final Format output;
        private final Key ofRecords;
        private final Key ofGroups;
        private final Conversion begin;
        private final List<Aggregate> aggregates = new ArrayList<>();
        private final RecordView begun = new RecordView();

        Summary(Format input, Format output, int tag) {
            this.tag = tag;
            this.output = output;
            ofRecords = new Key(input, key, seed);
            ofGroups = new Key(output, key, seed);
            ofRecords.requireComparable(ofGroups);
            Map<String, String> taken = new HashMap<>();
            DerivedFormat.withCounts(input, key).forEach(field -> taken.put(field, field));
            for (Aggregate.Wish wish : wishes) {
                Aggregate aggregate = new Aggregate(wish, input, output);
                if (aggregate.isFirst()) {
                    taken.put(wish.name(), wish.source());
                } else {
                    aggregates.add(aggregate);
                }
            }
            begin = Conversion.compileFields(input, Target.of(output), taken);
        }

        @Override
        public Format output(int port) {
            return output;
        }

        @Override
        public Outcome handle(Message message, Outlet outlet) {
            long nowNs = outlet.nowNs();
            expire(nowNs, outlet);
            RecordView record = message.record();
            int hash = ofRecords.hash(record);
            int group = find(hash, record);
            for (int i = 0; i < aggregates.size(); i++) {
                long state = group == HeldRecords.NONE ? 0 : groups.cell(group, i + 1);
                if (!aggregates.get(i).fits(state, record)) {
                    return outlet.drop(OVERFLOW);
                }
            }
            boolean first = group == HeldRecords.NONE;
            if (first) {
                group = begin(message, record, hash);
                if (group == HeldRecords.NONE) {
                    return outlet.drop(MEMORY);
                }
            }
            for (int i = 0; i < aggregates.size(); i++) {
                groups.putCell(group, i + 1, aggregates.get(i).with(groups.cell(group, i + 1), record, first));
            }
            groups.putCell(group, COUNT_CELL, groups.cell(group, COUNT_CELL) + 1);
            window.enter(nowNs);
            expire(nowNs, outlet);
            return Outcome.MERGE;
        }

        private int find(int hash, RecordView record) {
            for (int at = groups.first(hash); at != HeldRecords.NONE; at = groups.next(at)) {
                boolean own = groups.sinceNs(at) == number && groups.tag(at) == tag;
                if (own && ofRecords.equals(record, ofGroups, groups.view(at, output, view))) {
                    return at;
                }
            }
            return HeldRecords.NONE;
        }

        private int begin(Message message, RecordView record, int hash) {
            int length = begin.convert(record);
            begun.wrap(output, begin.memory(), 0, length);
            int group = groups.add(hash, tag, number, message, true, begun, aggregates.size() + 1);
            for (int i = 0; group != HeldRecords.NONE && i < aggregates.size(); i++) {
                groups.putCell(group, i + 1, aggregates.get(i).begin());
            }
            return group;
        }

        void end(int group, Outlet outlet) {
            groups.view(group, output, view);
            for (int i = 0; i < aggregates.size(); i++) {
                aggregates.get(i).end(view, groups.cell(group, i + 1), groups.cell(group, COUNT_CELL));
            }
            groups.wrap(group, made, output, view.memory(), view.start(), view.length(), groups.arrivalNs(group));
            // The memory stays as it is until another group begins.
            groups.free(group);
            outlet.emit(0, made);
        }
    }

    @Override
    public Bound bind(Format input) {
        Format output = output(input);
        int tag = 0;
        while (tag < summaries.size() && !summaries.get(tag).output.id().equals(output.id())) {
            tag++;
        }
        if (tag == MAX_FORMATS) {
            throw new FormatException(
                    FormatFault.CONVERSION,
                    "reduce makes summaries of " + MAX_FORMATS
                            + " formats already: translate its input into one before");
        }
        Summary summary = new Summary(input, output, tag);
        if (tag == summaries.size()) {
            summaries.add(summary);
        }
        return summary;
    }

    private Format output(Format input) {
        if (declared != null) {
            return declared.format();
        }
        DerivedFormat summary = new DerivedFormat(name.isEmpty() ? input.name() + "_summary" : name).take(input, key);
        wishes.forEach(wish -> Aggregate.describe(wish, input, summary));
        return summary.build();
    }

    /** Ends the window if it is over: the groups of those before, as many as one call may. */
    @Override
    public long expire(long nowNs, Outlet outlet) {
        if (window.isOver(nowNs)) {
            window.close();
            number++;
        }
        return endGroups(SUMMARIES_A_CALL, outlet) ? window.endNs() : nowNs;
    }

    /** Ends groups of windows before the present one; false if some are left. */
    private boolean endGroups(int limit, Outlet outlet) {
        for (int i = 0; i < limit; i++) {
            int oldest = groups.oldest();
            if (oldest == HeldRecords.NONE || groups.sinceNs(oldest) == number) {
                return true;
            }
            summaries.get(groups.tag(oldest)).end(oldest, outlet);
        }
        return groups.oldest() == HeldRecords.NONE || groups.sinceNs(groups.oldest()) == number;
    }

    @Override
    public void finish(Outlet outlet) {
        window.close();
        number++;
        endGroups(Integer.MAX_VALUE, outlet);
    }

    @Override
    public long heldBytes() {
        return groups.bytes();
    }

    /** Needs the state, and an eighth of it for the table of groups. */
    @Override
    public Needs needs() {
        return new Needs(stateBytes + stateBytes / 8, 0);
    }
}
