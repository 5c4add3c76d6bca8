package org.tamanoir.services.morph.handler;

import java.io.IOException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.tamanoir.format.Conversion;
import org.tamanoir.format.Field;
import org.tamanoir.format.Format;
import org.tamanoir.format.FormatBuilder;
import org.tamanoir.format.FormatException;
import org.tamanoir.format.FormatFault;
import org.tamanoir.format.Layout;
import org.tamanoir.format.RecordEncoder;
import org.tamanoir.format.RecordView;
import org.tamanoir.format.RecordWriter;
import org.tamanoir.format.Target;
import org.tamanoir.format.Type;
import org.tamanoir.format.text.Decimals;
import org.tamanoir.message.Bound;
import org.tamanoir.message.Effect;
import org.tamanoir.message.Message;
import org.tamanoir.message.MessageHandler;
import org.tamanoir.message.Needs;
import org.tamanoir.message.Outcome;
import org.tamanoir.message.Outlet;
import org.tamanoir.platform.Causes;

/**
 * Adds fields from a table by a key. The table is read when the handler is made; its rows are records, found as the parts
 * of a merge are.
 */
final class Enrich implements MessageHandler {
    static final String NO_ROW = "enrich: no row for its key";

    private static final int LONG_BITS = 64;
    /** Numbers that come back from a double as they were written, with ".0" or without: versions such as 1.10 do not. */
    private static final Pattern PLAIN = Pattern.compile("-?(0|[1-9]\\d*)(\\.(0|\\d*[1-9]))?");

    private static final Pattern TYPE = Pattern.compile("(\\w+)(?:\\((\\d{1,2})\\))?");

    private final List<String> keys;
    private final List<String> fields;
    private final String name;
    private final boolean drops;
    private final long stateBytes;
    private final HeldRecords rows;
    private final boolean hasRows;
    private final Format format;
    private final Key keyOfRows;
    private final long seed = ThreadLocalRandom.current().nextLong();
    private final RecordView row = new RecordView();

    Enrich(HandlerSettings settings) {
        TableFile table = table(settings);
        boolean renamed = settings.value("key") instanceof Map;
        Map<String, String> byColumn = renamed ? settings.textMap("key") : Map.of();
        keys = renamed ? List.copyOf(byColumn.keySet()) : settings.texts("key");
        List<String> columns = renamed ? List.copyOf(byColumn.values()) : keys;
        if (keys.isEmpty()) {
            throw settings.problem("key", "is missing: name a field that is a column, or as in {hub: code}");
        }
        fields = settings.has("fields")
                ? settings.texts("fields")
                : table.columns().stream().filter(c -> !columns.contains(c)).toList();
        Map<String, String> types = settings.textMap("types");
        FormatBuilder builder = Format.builder(Layout.X86_64).structure("row");
        for (String column : table.columns()) {
            if (columns.contains(column) || fields.contains(column)) {
                type(settings, builder, column, types.getOrDefault(column, inferred(table, column)));
            }
        }
        require(settings, "key", columns, table);
        require(settings, "fields", fields, table);
        require(settings, "types", List.copyOf(types.keySet()), table);
        format = built(settings, builder);
        keyOfRows = key(settings, columns);
        name = settings.text("name", "");
        drops = settings.choice("missing", "empty", "drop").equals("drop");
        stateBytes = settings.bytes("state", "16MiB", 1 << 12, 1 << 30);
        rows = new HeldRecords(stateBytes, Integer.MAX_VALUE);
        hasRows = !table.rows().isEmpty();
        fill(settings, table);
    }

    private static TableFile table(HandlerSettings settings) {
        try {
            return TableFile.read(settings.file("table"));
        } catch (IOException e) {
            throw settings.problem("table", settings.text("table") + " cannot be read: " + Causes.text(e));
        }
    }

    private static void require(HandlerSettings settings, String key, List<String> names, TableFile table) {
        for (String column : names) {
            if (!table.columns().contains(column)) {
                throw settings.problem(
                        key, "the table has no column '" + column + "'; it has: " + String.join(", ", table.columns()));
            }
        }
    }

    /**
     * Returns the narrowest of integer, double and string that holds all cells without a change; string where no cell
     * says more. Whole numbers are integers or texts: a double would round identifiers.
     */
    private static String inferred(TableFile table, String column) {
        boolean isEmpty = table.rows().stream().noneMatch(line -> line.cells().containsKey(column));
        if (isEmpty || table.isText(column)) {
            return "string";
        }
        if (holds(table, column, Decimals::isWhole)) {
            return holds(table, column, Enrich::isInteger) ? "integer(8)" : "string";
        }
        boolean isPlain = table.isJson()
                || holds(table, column, cell -> PLAIN.matcher(cell).matches());
        return isPlain && holds(table, column, Enrich::isDouble) ? "double" : "string";
    }

    private static boolean isInteger(String whole) {
        BigInteger number = new BigInteger(whole);
        return number.bitLength() < LONG_BITS && number.toString().equals(whole);
    }

    private static boolean isDouble(String cell) {
        if (!Decimals.isNumber(cell)) {
            return false;
        }
        double nearest = Double.parseDouble(cell);
        try {
            return Double.isFinite(nearest)
                    && new BigDecimal(Double.toString(nearest)).compareTo(new BigDecimal(cell)) == 0;
        } catch (NumberFormatException e) {
            return false; // An exponent of more than 32 bits.
        }
    }

    private static boolean holds(TableFile table, String column, Predicate<String> type) {
        return table.rows().stream()
                .map(line -> line.cells().get(column))
                .allMatch(cell -> cell == null || type.test(cell));
    }

    private static void type(HandlerSettings settings, FormatBuilder builder, String column, String text) {
        Matcher type = TYPE.matcher(text);
        if (!type.matches()) {
            throw settings.problem(
                    "types." + column, "'" + text + "' is no type, such as integer(8), double or string");
        }
        builder.field(column, type.group(1), type.group(2) == null ? -1 : Integer.parseInt(type.group(2)));
    }

    private static Format built(HandlerSettings settings, FormatBuilder builder) {
        try {
            return builder.build();
        } catch (FormatException e) {
            throw settings.problem("types", e.getMessage());
        }
    }

    private Key key(HandlerSettings settings, List<String> columns) {
        try {
            return new Key(format, columns, seed);
        } catch (FormatException e) {
            throw settings.problem("key", e.getMessage());
        }
    }

    private void fill(HandlerSettings settings, TableFile table) {
        RecordEncoder encoder = new RecordEncoder(format);
        RecordView record = new RecordView();
        Message none = new Message();
        int held = 0;
        for (TableFile.Line line : table.rows()) {
            String place = "line " + line.number();
            try {
                byte[] bytes = encoder.encode(values(line.cells()));
                record.wrap(format, ByteBuffer.wrap(bytes), 0, bytes.length);
                int hash = keyOfRows.hash(record);
                if (find(hash, keyOfRows, record) != HeldRecords.NONE) {
                    throw settings.problem("table", place + " has the key of another: " + line.cells());
                }
                if (rows.add(hash, 0, 0, none, false, record, 0) == HeldRecords.NONE) {
                    throw settings.problem(
                            "state",
                            stateBytes + " bytes hold " + held + " of "
                                    + table.rows().size() + " rows");
                }
                held++;
            } catch (FormatException e) {
                throw settings.problem("table", place + ": " + e.getMessage());
            }
        }
    }

    private Map<String, Object> values(Map<String, String> cells) {
        Map<String, Object> values = new HashMap<>();
        for (Field field : format.top().fields()) {
            String cell = cells.get(field.name());
            if (cell != null) {
                try {
                    values.put(field.name(), value(field.type(), cell));
                } catch (FormatException e) {
                    throw e.inField(field.name());
                }
            }
        }
        return values;
    }

    private static Object value(Type type, String cell) {
        return switch (type.kind()) {
            case STRING -> cell;
            case FLOAT -> Decimals.floating(cell, type.bytes());
            default -> Decimals.whole(cell);
        };
    }

    private int find(int hash, Key key, RecordView record) {
        int at = rows.first(hash);
        while (at != HeldRecords.NONE && !key.equals(record, keyOfRows, rows.view(at, format, row))) {
            at = rows.next(at);
        }
        return at;
    }

    private final class Enriching implements Bound {
        private final Format output;
        private final Key key;
        private final Conversion own;
        private final Conversion added;
        private final RecordWriter writer;
        private final Message enriched = new Message();

        Enriching(Format input) {
            List<String> all = input.top().fields().stream().map(Field::name).toList();
            for (String field : fields) {
                if (all.contains(field)) {
                    throw new FormatException(
                            FormatFault.CONVERSION,
                            "format " + input.name() + " has a field '" + field
                                    + "': name the table's column otherwise");
                }
            }
            key = new Key(input, keys, seed);
            if (hasRows) { // Without one a key is never compared.
                key.requireComparable(keyOfRows);
            }
            output = new DerivedFormat(name.isEmpty() ? input.name() : name)
                    .take(input, all)
                    .take(format, fields)
                    .build();
            own = Conversion.compileFields(input, Target.of(output), same(all));
            added = Conversion.compileFields(format, Target.of(output), same(fields));
            writer = new RecordWriter(output);
        }

        @Override
        public Format output(int port) {
            return output;
        }

        @Override
        public Outcome handle(Message message, Outlet outlet) {
            RecordView record = message.record();
            int at = find(key.hash(record), key, record);
            if (at == HeldRecords.NONE && drops) {
                return outlet.drop(NO_ROW);
            }
            writer.begin(output);
            own.fill(record, writer);
            if (at != HeldRecords.NONE) {
                added.fill(rows.view(at, format, row), writer);
            }
            int length = writer.finish();
            outlet.replace(enriched.wrapLike(message, output, writer.memory(), 0, length));
            return Outcome.FORWARD;
        }
    }

    private static Map<String, String> same(List<String> names) {
        return names.stream().collect(Collectors.toMap(Function.identity(), Function.identity()));
    }

    @Override
    public Bound bind(Format input) {
        return new Enriching(input);
    }

    @Override
    public Effect effect() {
        return new Effect(false, Set.copyOf(keys), name.isEmpty() ? Set.copyOf(fields) : null, Double.NaN);
    }

    @Override
    public long heldBytes() {
        return rows.bytes();
    }

    /** Needs the state, and an eighth of it for the table of rows. */
    @Override
    public Needs needs() {
        return new Needs(stateBytes + stateBytes / 8, 0);
    }
}
