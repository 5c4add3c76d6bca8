package org.tamanoir.format;

import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A structure of a format.
 *
 * <p>Thread contract: immutable once its format is made.
 */
public final class Structure {
    private final StructureText text;
    private final List<Field> fields;
    private final Map<String, Field> byName = new HashMap<>();
    private final int number;
    private boolean variable;
    private boolean recursive;

    Structure(StructureText text, int number) {
        this.text = text;
        this.number = number;
        fields = text.fields().stream()
                .sorted(Comparator.comparingInt(FieldText::offset))
                .map(Field::new)
                .toList();
        for (Field field : fields) {
            if (byName.put(field.name(), field) != null) {
                throw new FormatException(
                        FormatFault.DESCRIPTION,
                        "structure '" + Texts.shown(name()) + "' has two fields '" + Texts.shown(field.name()) + "'");
            }
        }
    }

    /** Returns the name. */
    public String name() {
        return text.name();
    }

    /** Returns the fields in the order of their offsets. */
    public List<Field> fields() {
        return fields;
    }

    /** Returns the field of this exact name; null if there is none. */
    public @Nullable Field field(String name) {
        return byName.get(name);
    }

    /** Returns the bytes of one, with the padding at its end. */
    public int recordLength() {
        return text.recordLength();
    }

    /** Returns the alignment as the description says it, a hint; 0 is possible. */
    public int alignment() {
        return text.alignment();
    }

    /** Returns how the writer's machine lays it out. */
    public Layout layout() {
        return text.layout();
    }

    /** Returns what the description carries beside the fields. */
    public List<OptionalInformation> information() {
        return text.information();
    }

    /** Returns whether there are strings or pointers in it. */
    public boolean isVariable() {
        return variable;
    }

    /** Returns whether it leads to itself, or to a structure that does. */
    public boolean isRecursive() {
        return recursive;
    }

    /** Returns its place in the description, from 0. */
    int number() {
        return number;
    }

    void variable(boolean is) {
        variable = is;
    }

    void recursive(boolean is) {
        recursive = is;
    }

    StructureText text() {
        return text;
    }

    @Override
    public String toString() {
        return name();
    }
}
