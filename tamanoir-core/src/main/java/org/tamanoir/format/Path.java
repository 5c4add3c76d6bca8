package org.tamanoir.format;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Resolves a path, field by field and index by index, into the steps of an accessor. */
final class Path {
    private final Format format;
    private final String text;
    private final List<Accessor.Hop> hops = new ArrayList<>();
    private final int fromBytes;
    /** Where the path has come to: a structure, or something of this type. */
    private Type type;

    private int structureAdd;
    private int add;

    private Path(Format format, String text, Type from) {
        this.format = format;
        this.text = text;
        type = from;
        fromBytes = from.bytes();
    }

    static Accessor resolve(Format format, Structure from, String text) {
        Path path = new Path(format, text, Type.structure(from, from.recordLength()));
        int at = 0;
        if (from.field(first(text)) == null && text.startsWith(from.name() + ".")) {
            at = from.name().length() + 1;
        }
        while (at < text.length()) {
            at = text.charAt(at) == '[' ? path.index(at) : path.field(at);
        }
        return path.end();
    }

    private static String first(String text) {
        return text.split("[.\\[]", 2)[0];
    }

    /** Makes an accessor that begins at an element. */
    static Accessor element(Format format, String text, Type element) {
        Path path = new Path(format, text + "[]", element);
        path.structureAdd = -1;
        return path.end();
    }

    private Accessor end() {
        followPointers();
        return new Accessor(format, text, fromBytes, hops.toArray(Accessor.Hop[]::new), structureAdd, add, type);
    }

    private int field(int from) {
        int at = from > 0 && text.charAt(from) == '.' ? from + 1 : from;
        followPointers();
        Structure structure = type.isLeaf() ? type.structure() : null;
        if (structure == null) {
            throw fault("is no structure", at);
        }
        int end = at;
        // A name with a dot or a bracket in it can stand at the end alone.
        if (structure.field(text.substring(at)) != null) {
            end = text.length();
        }
        while (end < text.length() && text.charAt(end) != '.' && text.charAt(end) != '[') {
            end++;
        }
        Field field = structure.field(text.substring(at, end));
        if (field == null) {
            throw new FormatException(
                    FormatFault.VALUE,
                    "path '" + Texts.shown(text) + "': structure '" + Texts.shown(structure.name()) + "' has no field '"
                            + Texts.shown(text.substring(at, end)) + "'");
        }
        structureAdd = add;
        add += field.offset();
        type = field.type();
        return end;
    }

    private int index(int from) {
        followPointers();
        int close = text.indexOf(']', from);
        if (!type.isArray()) {
            throw fault("is no array", from);
        }
        int index = 0;
        try {
            index = Integer.parseUnsignedInt(text.substring(from + 1, Math.max(from + 1, close)));
        } catch (NumberFormatException e) {
            throw fault("is followed by no index", from);
        }
        hop(index);
        return close + 1;
    }

    private void followPointers() {
        while (type.isPointer()) {
            hop(0);
        }
    }

    private void hop(int index) {
        hops.add(new Accessor.Hop(structureAdd, add, type, index));
        type = type.target();
        structureAdd = -1;
        add = 0;
    }

    private FormatException fault(String what, int at) {
        return new FormatException(
                FormatFault.VALUE,
                "path '" + Texts.shown(text) + "': '" + Texts.shown(text.substring(0, at)) + "' " + what);
    }

    /**
     * Returns the place of an element.
     *
     * @param structure place of the structure that has the counts; -1 for an array that is not there
     * @param index in the order of rows
     */
    static int elementAt(RecordView record, @Nullable String path, Type array, int structure, int at, int index) {
        long elements = structure < 0 ? 0 : record.elements(array, structure);
        if (index < 0 || index >= elements) {
            throw new FormatException(FormatFault.INDEX, path + ": element " + index + " of " + elements);
        }
        int each = array.target().bytes();
        int dimensions = array.dimensions().size();
        if (dimensions == 1 || !record.format().layout().columnMajor()) {
            return at + index * each;
        }
        // By columns: the leftmost index varies fastest.
        long place = 0;
        int rest = index;
        long inner = elements;
        long stride = 1;
        for (int i = 0; i < dimensions; i++) {
            long count = record.count(array.dimensions().get(i), structure);
            inner /= count;
            place += rest / inner * stride;
            rest %= (int) inner;
            stride *= count;
        }
        return at + (int) place * each;
    }
}
