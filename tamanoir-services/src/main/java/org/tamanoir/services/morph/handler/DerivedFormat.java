package org.tamanoir.services.morph.handler;

import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.Set;
import org.tamanoir.format.Dimension;
import org.tamanoir.format.Field;
import org.tamanoir.format.Format;
import org.tamanoir.format.FormatBuilder;
import org.tamanoir.format.FormatException;
import org.tamanoir.format.FormatFault;
import org.tamanoir.format.Kind;
import org.tamanoir.format.Layout;
import org.tamanoir.format.Structure;
import org.tamanoir.format.Type;

/**
 * A format that follows from another: some of its fields with the structures that they need, and new ones. Laid out as a C
 * compiler does on x86-64, whoever sent the records, so that all senders' records become one format.
 */
final class DerivedFormat {
    private final FormatBuilder builder = Format.builder(Layout.X86_64);
    private final String name;
    private final Set<String> fields = new HashSet<>();
    private final Set<Structure> inner = new LinkedHashSet<>();

    DerivedFormat(String name) {
        this.name = name;
        builder.structure(name);
    }

    /**
     * Returns these fields and those that count their arrays.
     *
     * @throws FormatException if the format has no such field
     */
    static Set<String> withCounts(Format from, Collection<String> fields) {
        Set<String> all = new LinkedHashSet<>();
        for (String one : fields) {
            Field field = from.top().field(one);
            if (field == null) {
                throw new FormatException(
                        FormatFault.CONVERSION,
                        "format " + from.name() + " has no field '" + one + "'; it has: "
                                + from.top().fields());
            }
            addCounts(field.type(), all);
            all.add(one);
        }
        return all;
    }

    private static void addCounts(Type type, Set<String> fields) {
        for (Dimension dimension : type.dimensions()) {
            Field control = dimension.control();
            if (control != null) {
                fields.add(control.name());
            }
        }
        if (!type.isLeaf()) {
            addCounts(type.target(), fields);
        }
    }

    /** Takes fields of a format as they are. */
    DerivedFormat take(Format from, Collection<String> names) {
        for (String one : withCounts(from, names)) {
            Field field = from.top().field(one);
            if (field != null && fields.add(one)) {
                add(field);
            }
        }
        return this;
    }

    private void add(Field field) {
        boolean simple = field.type().kind() != Kind.STRING && field.type().kind() != Kind.STRUCTURE;
        builder.field(field.name(), field.typeText(), simple ? field.size() : -1);
        collect(field.type().structure());
    }

    private void collect(@org.jspecify.annotations.Nullable Structure structure) {
        if (structure == null || !inner.add(structure)) {
            return;
        }
        if (structure.name().equals(name)) {
            throw new FormatException(
                    FormatFault.CONVERSION,
                    "structure " + name + " leads to itself: give what is made of it another name, or cut it");
        }
        structure.fields().forEach(field -> collect(field.type().structure()));
    }

    /** Adds a field; -1 bytes are the usual ones. */
    DerivedFormat add(String field, String type, int bytes) {
        if (!fields.add(field)) {
            throw new FormatException(
                    FormatFault.CONVERSION, "field '" + field + "' stands twice in " + name + ": name one otherwise");
        }
        builder.field(field, type, bytes);
        return this;
    }

    Format build() {
        for (Structure structure : inner) {
            builder.structure(structure.name());
            structure.fields().forEach(this::add);
        }
        return builder.build();
    }
}
