package org.tamanoir.format;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Joins the structures of a description: resolves types, and refuses what contradicts itself. */
final class Linker {
    private final List<Structure> structures;
    private final Map<String, Integer> numbers = new HashMap<>();
    /** Which fields may count arrays: many arrays may name one. */
    private final Map<Field, Boolean> counters = new HashMap<>();
    /** The structures that each holds as they are, and all that it leads to. */
    private final List<BitSet> held = new ArrayList<>();

    private final List<BitSet> led = new ArrayList<>();

    private Linker(List<Structure> structures) {
        this.structures = structures;
    }

    /**
     * Makes the structures, the top one first.
     *
     * @throws FormatException if they break a bound or do not fit one another
     */
    static List<Structure> link(List<StructureText> texts) {
        List<Structure> structures = new ArrayList<>();
        for (StructureText text : texts) {
            structures.add(new Structure(text, structures.size()));
        }
        Linker linker = new Linker(List.copyOf(structures));
        linker.link();
        return linker.structures;
    }

    private void link() {
        for (int i = 0; i < structures.size(); i++) {
            if (numbers.put(structures.get(i).name(), i) != null) {
                throw fault(structures.get(i), "is described twice");
            }
            if (structures.get(i).layout().pointerBytes()
                    != structures.get(0).layout().pointerBytes()) {
                throw fault(structures.get(i), "has pointers of another size than the top structure");
            }
            held.add(new BitSet());
            led.add(new BitSet());
        }
        for (int i = 0; i < structures.size(); i++) {
            resolve(structures.get(i), i);
        }
        close(held);
        for (int i = 0; i < structures.size(); i++) {
            if (held.get(i).get(i)) {
                throw fault(structures.get(i), "contains itself: put a pointer between");
            }
        }
        close(led);
        for (int i = 0; i < structures.size(); i++) {
            structures.get(i).recursive(leadsToCircle(i));
        }
        // What each holds decides: a structure is variable if one that it holds has a slot.
        for (int i = 0; i < structures.size(); i++) {
            boolean variable = hasSlots(structures.get(i));
            for (int inner : held.get(i).stream().toArray()) {
                variable |= hasSlots(structures.get(inner));
            }
            structures.get(i).variable(variable);
        }
    }

    /** Closes a relation over its steps: at most 100 structures. */
    private static void close(List<BitSet> relation) {
        for (int via = 0; via < relation.size(); via++) {
            for (BitSet row : relation) {
                if (row.get(via)) {
                    row.or(relation.get(via));
                }
            }
        }
    }

    private boolean leadsToCircle(int from) {
        return led.get(from).get(from)
                || led.get(from).stream().anyMatch(other -> led.get(other).get(other));
    }

    private static boolean hasSlots(Structure structure) {
        for (Field field : structure.fields()) {
            for (Type type = field.type(); ; type = type.target()) {
                if (type.isPointer() || type.isLeaf() && type.kind() == Kind.STRING) {
                    return true;
                }
                if (type.isLeaf()) {
                    break;
                }
            }
        }
        return false;
    }

    private void resolve(Structure structure, int number) {
        long end = 0;
        Field before = null;
        for (Field field : structure.fields()) {
            Type type = type(structure, number, field);
            field.resolve(type);
            if (field.offset() < end) {
                throw fault(structure, field, "begins at " + field.offset() + ", where '" + shown(before) + "' lies");
            }
            end = (long) field.offset() + type.bytes();
            if (end > structure.recordLength()) {
                throw fault(structure, field, "ends at " + end + ", the structure at " + structure.recordLength());
            }
            before = field;
        }
    }

    private static String shown(@Nullable Field field) {
        return field == null ? "" : Texts.shown(field.name());
    }

    private Type type(Structure structure, int number, Field field) {
        List<Step> steps = TypeText.steps(field.typeText());
        Step.Leaf leaf = (Step.Leaf) steps.get(steps.size() - 1);
        Type type = leaf(structure, field, leaf);
        boolean direct = true;
        for (int i = steps.size() - 2; i >= 0; i--) {
            if (steps.get(i) instanceof Step.Pointer) {
                type = Type.pointer(type, structure.layout().pointerBytes());
                direct = false;
            } else {
                List<Dimension> dimensions = new ArrayList<>();
                for (; i >= 0 && !(steps.get(i) instanceof Step.Pointer); i--) {
                    dimensions.add(dimension(structure, field, steps.get(i)));
                }
                i++;
                Collections.reverse(dimensions);
                type = array(structure, field, type, dimensions);
            }
        }
        if (leaf.kind() == Kind.STRUCTURE) {
            int target = numberOf(structure, field, leaf);
            led.get(number).set(target);
            if (direct) {
                held.get(number).set(target);
            }
        }
        return type;
    }

    private int numberOf(Structure structure, Field field, Step.Leaf leaf) {
        Integer number = numbers.get(leaf.structure());
        if (number == null) {
            number = numbers.get(leaf.structure().strip());
        }
        if (number == null) {
            throw fault(
                    structure, field, "is of structure '" + Texts.shown(leaf.structure()) + "', not described here");
        }
        return number;
    }

    private Type leaf(Structure structure, Field field, Step.Leaf leaf) {
        int bytes = field.size();
        if (!leaf.kind().allows(bytes)) {
            throw fault(structure, field, "has " + bytes + " bytes, which no " + leaf.kind() + " has");
        }
        if (leaf.kind() == Kind.STRUCTURE) {
            Structure target = structures.get(numberOf(structure, field, leaf));
            requireSize(structure, field, target.recordLength());
            return Type.structure(target, bytes);
        }
        if (leaf.kind() == Kind.STRING) {
            requireSize(structure, field, structure.layout().pointerBytes());
        }
        return Type.leaf(leaf.kind(), bytes, structure.layout());
    }

    private static void requireSize(Structure structure, Field field, int bytes) {
        if (field.size() != bytes) {
            throw fault(structure, field, "has " + field.size() + " bytes, its type " + bytes);
        }
    }

    private static boolean mayCount(Field field) {
        List<Step> steps = TypeText.steps(field.typeText());
        return steps.size() == 1 && ((Step.Leaf) steps.get(0)).kind().mayCount();
    }

    private Dimension dimension(Structure structure, Field field, Step step) {
        if (step instanceof Step.Fixed fixed) {
            return new Dimension((int) Math.min(fixed.count(), Integer.MAX_VALUE), null);
        }
        String name = ((Step.Counted) step).field();
        Field control = structure.field(name);
        if (control == null) {
            throw fault(structure, field, "is counted by '" + Texts.shown(name) + "', which is no field");
        }
        if (!counters.computeIfAbsent(control, Linker::mayCount)) {
            throw fault(structure, field, "is counted by '" + Texts.shown(name) + "', which is no integer");
        }
        return new Dimension(-1, control);
    }

    private static Type array(Structure structure, Field field, Type element, List<Dimension> dimensions) {
        long elements = 1;
        boolean counted = false;
        for (Dimension dimension : dimensions) {
            counted |= dimension.control() != null;
            elements *= Math.max(1, dimension.count());
            if (elements > FormatLimits.FIXED_ELEMENTS) {
                throw fault(structure, field, "has more than " + FormatLimits.FIXED_ELEMENTS + " elements");
            }
        }
        long bytes = elements * element.bytes();
        if (!counted && bytes > Integer.MAX_VALUE) {
            throw fault(structure, field, "has " + bytes + " bytes: at most " + Integer.MAX_VALUE + " are possible");
        }
        return Type.array(element, List.copyOf(dimensions), counted ? -1 : (int) bytes);
    }

    private static FormatException fault(Structure structure, String what) {
        return new FormatException(
                FormatFault.DESCRIPTION, "structure '" + Texts.shown(structure.name()) + "' " + what);
    }

    private static FormatException fault(Structure structure, Field field, String what) {
        return new FormatException(
                FormatFault.DESCRIPTION,
                "field '" + Texts.shown(field.name()) + "' of structure '" + Texts.shown(structure.name()) + "' "
                        + what);
    }
}
