package org.tamanoir.format;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Converts records of one format into another, as a receiver needs them: compiled once for the two, then run without
 * allocation. Fields go by name; sizes, offsets and byte orders may differ, and what the target does not have is left
 * out. Numbers that do not fit lose their high bits, floats become infinite.
 *
 * <p>Shared targets and circles of structures that lead to themselves stay so.
 *
 * <p>Thread contract: one thread.
 */
public final class Conversion {
    private final Format source;
    private final Format target;
    private final StructurePlan plan;
    private final RecordWriter own;
    private RecordWriter writer;
    private final PlaceMap written = new PlaceMap();
    private final List<Frame> frames = new ArrayList<>();
    private int depth;
    private long valuesLeft;

    /** Parts of a structure, or elements of an array, that are converted. */
    private static final class Frame {
        StructurePlan owner;
        /** The elements' plan; the array's own tells their dimensions. */
        TypePlan array;

        boolean elements;
        int sourceStructure;
        int targetStructure;
        int from;
        int to;
        int index;
        int count;
        int pointers;

        Frame(StructurePlan owner, TypePlan array) {
            this.owner = owner;
            this.array = array;
        }
    }

    private final TypePlan top;

    private Conversion(Format source, Format target, StructurePlan plan) {
        this.source = source;
        this.target = target;
        this.plan = plan;
        own = new RecordWriter(target);
        writer = own;
        Type from = Type.structure(plan.source, plan.source.recordLength());
        Type to = Type.structure(plan.target, plan.target.recordLength());
        top = TypePlan.leaf(TypePlan.Step.STRUCTURE, from, to, null, plan);
    }

    /**
     * Compiles a conversion by FFS's rules: kinds have to be the same.
     *
     * @throws FormatException if a field of the target is missing or does not fit
     */
    public static Conversion compile(Format source, Target target) {
        return new Conversion(source, target.format(), new ConversionCompiler(target, false).compile(source));
    }

    /** Compiles a conversion in which any number may become any other: integers floats, floats their whole part. */
    public static Conversion compileAcrossKinds(Format source, Target target) {
        return new Conversion(source, target.format(), new ConversionCompiler(target, true).compile(source));
    }

    /**
     * Compiles a conversion of some fields of the top structure, perhaps under other names; the rest stays 0 and null.
     *
     * @param fields names in the source by names in the target; the empty name stands for the target's default
     * @throws FormatException if a field is missing or does not fit, or the field that counts an array is not among them
     */
    public static Conversion compileFields(Format source, Target target, Map<String, String> fields) {
        return new Conversion(
                source, target.format(), new ConversionCompiler(target, false).compileFields(source, fields));
    }

    /** Compiles a copy within a format of all that lies in the base: strings and pointers become null. */
    public static Conversion compileBase(Format format) {
        return new Conversion(format, format, ConversionCompiler.ofBase(format).compile(format));
    }

    /** Returns the format of what comes in. */
    public Format source() {
        return source;
    }

    /** Returns the format of what goes out. */
    public Format target() {
        return target;
    }

    /**
     * Converts a record into this object's own memory, {@link #memory}, and returns its bytes.
     *
     * @throws FormatException if the record is damaged, or a count does not fit its field in the target
     */
    public int convert(RecordView record) {
        run(record, own.begin(target));
        return own.finish();
    }

    /** Converts a record into lent memory, and returns its bytes; throws as {@link #convert(RecordView)}. */
    public int convert(RecordView record, ByteBuffer into, int at) {
        run(record, own.begin(target, into, at));
        return own.finish();
    }

    /**
     * Writes a record's fields into a record of the target that the writer has begun, and leaves it unfinished; throws as
     * {@link #convert(RecordView)}.
     */
    public void fill(RecordView record, RecordWriter begun) {
        if (begun.format() != target) {
            throw new IllegalArgumentException("a record of " + begun.format() + " is begun, not of " + target);
        }
        run(record, begun);
    }

    /** Returns the memory that the last record was converted into. */
    public ByteBuffer memory() {
        return own.memory();
    }

    private void run(RecordView record, RecordWriter into) {
        if (!record.isOf(source)) {
            throw new IllegalArgumentException("record of " + record.format() + ", not of " + source);
        }
        writer = into;
        depth = 0;
        written.clear();
        valuesLeft = FormatLimits.values(record.bodyLength());
        structure(record, plan, 0, 0, 0);
        while (depth > 0) {
            Frame frame = frames.get(depth - 1);
            if (frame.index == frame.count) {
                depth--;
            } else if (frame.elements) {
                element(record, frame);
            } else {
                StructurePlan.Part part = frame.owner.parts.get(frame.index++);
                value(record, frame, part.plan(), frame.from + part.from(), frame.to + part.to());
            }
        }
    }

    private void structure(RecordView record, StructurePlan of, int from, int to, int pointers) {
        spend(1);
        List<Move> moves = of.moves;
        for (int i = 0; i < moves.size(); i++) {
            moves.get(i).run(record.memory(), record.base() + from, writer.memory(), writer.base() + to);
        }
        for (int i = 0; i < of.presets.size(); i++) {
            StructurePlan.Preset preset = of.presets.get(i);
            if (preset.floating()) {
                writer.putDouble(preset.type(), to + preset.to(), preset.number());
            } else {
                writer.putLong(preset.type(), to + preset.to(), preset.whole());
            }
        }
        if (!of.isFlat()) {
            Frame frame = push(of, top, pointers);
            frame.elements = false;
            frame.count = of.parts.size();
            frame.from = from;
            frame.to = to;
            frame.sourceStructure = from;
            frame.targetStructure = to;
        }
    }

    private Frame push(StructurePlan owner, TypePlan array, int pointers) {
        if (depth == frames.size()) {
            frames.add(new Frame(owner, array));
        }
        Frame frame = frames.get(depth++);
        frame.owner = owner;
        frame.array = array;
        frame.index = 0;
        frame.pointers = pointers;
        return frame;
    }

    private void element(RecordView record, Frame frame) {
        TypePlan array = frame.array;
        TypePlan next = array.next();
        if (next == null) {
            return;
        }
        int index = frame.index++;
        int from = frame.from
                + place(record, source, array.sourceDimensions(), frame.sourceStructure, frame.count, index)
                        * array.sourceBytes();
        // What the target counts is what the source counts: where fields say, they are the same.
        List<Dimension> dimensions = array.source().bytes() < 0 ? array.sourceDimensions() : array.targetDimensions();
        int to = frame.to
                + place(record, target, dimensions, frame.sourceStructure, frame.count, index) * array.targetBytes();
        value(record, frame, next, from, to);
    }

    /** Returns how many elements lie before this one, which is numbered in the order of rows. */
    private static int place(
            RecordView record, Format format, List<Dimension> dimensions, int structure, int elements, int index) {
        if (dimensions.size() < 2 || !format.layout().columnMajor()) {
            return index;
        }
        int place = 0;
        int rest = index;
        int inner = elements;
        int stride = 1;
        for (int i = 0; i < dimensions.size(); i++) {
            int count = (int) record.count(dimensions.get(i), structure);
            inner /= count;
            place += rest / inner * stride;
            rest %= inner;
            stride *= count;
        }
        return place;
    }

    private void value(RecordView record, Frame frame, TypePlan of, int slot, int slotInto) {
        // Frames are used again: what is needed of this one is taken before another is pushed.
        StructurePlan owner = frame.owner;
        int sourceStructure = frame.sourceStructure;
        int targetStructure = frame.targetStructure;
        int pointers = frame.pointers;
        TypePlan type = of;
        int from = slot;
        int to = slotInto;
        while (type.step() == TypePlan.Step.POINTER && type.next() != null) {
            TypePlan next = type.next();
            from = record.follow(from, type.source().target(), sourceStructure);
            if (from < 0) {
                spend(1);
                return;
            }
            if (++pointers > FormatLimits.POINTER_DEPTH) {
                throw new FormatException(
                        FormatFault.DEPTH,
                        "more than " + FormatLimits.POINTER_DEPTH + " pointers one behind the other");
            }
            StructurePlan shared = owner.source.isRecursive() ? next.structure() : null;
            long identity = shared == null ? 0 : (long) from * FormatLimits.STRUCTURES + shared.source.number();
            int known = shared == null ? -1 : written.get(identity);
            if (known >= 0) {
                writer.putReference(to, known);
                return;
            }
            to = writer.putBlock(to, bytes(record, next, sourceStructure, targetStructure));
            if (shared != null) {
                written.put(identity, to);
            }
            type = next;
        }
        switch (type.step()) {
            case ARRAY -> array(record, owner, type, from, to, sourceStructure, targetStructure, pointers);
            case STRUCTURE -> {
                if (type.structure() != null) {
                    structure(record, type.structure(), from, to, pointers);
                }
            }
            case STRING -> {
                spend(1);
                int text = record.follow(from);
                if (text >= 0) {
                    writer.putText(to, record, text);
                }
            }
            default -> {
                spend(1);
                numbers(record, type, from, to, 1);
            }
        }
    }

    private long bytes(RecordView record, TypePlan next, int sourceStructure, int targetStructure) {
        if (next.step() == TypePlan.Step.POINTER) {
            return target.layout().pointerBytes();
        }
        if (next.step() != TypePlan.Step.ARRAY) {
            return next.targetBytes();
        }
        for (int i = 0; next.source().bytes() < 0 && i < next.sourceDimensions().size(); i++) {
            long count = record.count(next.sourceDimensions().get(i), sourceStructure);
            if (count != writer.count(next.targetDimensions().get(i), targetStructure)) {
                throw new FormatException(
                        FormatFault.CONVERSION, "count " + count + " does not fit its field in the target");
            }
        }
        return elements(record, next, sourceStructure) * next.targetBytes();
    }

    private static long elements(RecordView record, TypePlan array, int sourceStructure) {
        return array.sourceDimensions().isEmpty() ? 1 : record.elements(array.source(), sourceStructure);
    }

    private void array(
            RecordView record,
            StructurePlan owner,
            TypePlan array,
            int from,
            int to,
            int sourceStructure,
            int targetStructure,
            int pointers) {
        int elements = (int) elements(record, array, sourceStructure);
        TypePlan next = array.next();
        boolean byRows =
                array.sourceDimensions().size() < 2 && array.targetDimensions().size() < 2
                        || !source.layout().columnMajor() && !target.layout().columnMajor();
        spend(1);
        if (next != null && next.move() != null && byRows) {
            spend(elements);
            numbers(record, next, from, to, elements);
            return;
        }
        Frame frame = push(owner, array, pointers);
        frame.elements = true;
        frame.count = elements;
        frame.from = from;
        frame.to = to;
        frame.sourceStructure = sourceStructure;
        frame.targetStructure = targetStructure;
    }

    private void numbers(RecordView record, TypePlan number, int from, int to, int elements) {
        Move move = number.move();
        if (move != null) {
            move.run(record.memory(), record.base() + from, writer.memory(), writer.base() + to, elements);
        }
    }

    private void spend(int values) {
        valuesLeft -= values;
        if (valuesLeft < 0) {
            throw new FormatException(
                    FormatFault.BUDGET, "record unfolds into more values than 4 times its bytes + 1024");
        }
    }
}
