package org.tamanoir.format;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Makes formats: {@code Format.builder(Layout.X86_64).structure("flight").field("delay", "integer", 4).build()}. The
 * first structure is the top one. Where no offsets are given, fields lie as a C compiler lays them, so that
 * descriptions and identifiers equal those of a C program with the same structures.
 *
 * <p>Thread contract: one thread.
 */
public final class FormatBuilder {
    private static final int MAX_ALIGNMENT = 16;

    private final Layout layout;
    private final Map<String, Draft> drafts = new LinkedHashMap<>();
    private @Nullable Draft current;

    FormatBuilder(Layout layout) {
        this.layout = layout;
    }

    /** A structure that is being described. */
    private static final class Draft {
        final String name;
        final List<FieldText> fields = new ArrayList<>();
        final List<OptionalInformation> information = new ArrayList<>();
        final Map<String, String> defaults = new HashMap<>();
        /** -1 until it is given or computed. */
        int recordLength = -1;

        int alignment;
        boolean begun;

        Draft(String name) {
            this.name = name;
        }
    }

    /** Begins a structure whose fields lie as a C compiler lays them. */
    public FormatBuilder structure(String name) {
        current = new Draft(name);
        if (drafts.put(name, current) != null) {
            throw new FormatException(
                    FormatFault.DESCRIPTION, "structure '" + Texts.shown(name) + "' is described twice");
        }
        if (drafts.size() > FormatLimits.STRUCTURES) {
            throw new FormatException(
                    FormatFault.DESCRIPTION, drafts.size() + " structures: at most " + FormatLimits.STRUCTURES);
        }
        return this;
    }

    /** Begins a structure whose fields all come with their offsets. */
    public FormatBuilder structure(String name, int recordLength, int alignment) {
        structure(name);
        current().recordLength = recordLength;
        current().alignment = alignment;
        return this;
    }

    /** Adds a field with its usual size: 4 bytes, floats 8, chars 1, strings and structures what they take. */
    public FormatBuilder field(String name, String type) {
        return field(name, type, -1, -1);
    }

    /** Adds a field behind the others. */
    public FormatBuilder field(String name, String type, int size) {
        return field(name, type, size, -1);
    }

    /**
     * Adds a field at its place.
     *
     * @param name may end in a default, such as {@code delay(0)}, for a {@link #target}; descriptions do not carry it
     * @param size of a leaf in bytes; -1: the usual one
     * @param offset in the structure; -1: behind the others
     */
    public FormatBuilder field(String name, String type, int size, int offset) {
        int parenthesis = name.indexOf('(');
        String proper = parenthesis < 0 ? name : name.substring(0, parenthesis);
        if (parenthesis >= 0) {
            int close = Math.max(parenthesis + 1, name.lastIndexOf(')'));
            current().defaults.put(proper, name.substring(parenthesis + 1, close));
        }
        current().fields.add(new FieldText(proper, type, size, offset));
        return this;
    }

    /** Adds what is kept beside the fields. */
    public FormatBuilder information(int type, byte[] bytes) {
        current().information.add(new OptionalInformation(type, bytes.clone()));
        return this;
    }

    private Draft current() {
        if (current == null) {
            throw new IllegalStateException("field without a structure: call structure() first");
        }
        return current;
    }

    /**
     * Makes the format; structures that the top one does not lead to are left out.
     *
     * @throws FormatException if the structures do not fit one another
     */
    public Format build() {
        return Format.of(DescriptionWriter.write(texts()));
    }

    /** Makes the format and keeps the defaults that its fields were given. */
    public Target target() {
        Map<String, Map<String, String>> defaults = new HashMap<>();
        drafts.forEach((name, draft) -> defaults.put(name, Map.copyOf(draft.defaults)));
        return new Target(build(), Map.copyOf(defaults));
    }

    private List<StructureText> texts() {
        if (drafts.isEmpty()) {
            throw new IllegalStateException("no structure: call structure() first");
        }
        Draft top = drafts.values().iterator().next();
        List<StructureText> ordered = new ArrayList<>();
        visit(top, new HashSet<>(), ordered);
        // The top structure is the last; before it stands what is found first.
        List<StructureText> texts = new ArrayList<>();
        for (int i = ordered.size() - 1; i >= 0; i--) {
            texts.add(ordered.get(i));
        }
        return texts;
    }

    /** Appends the structures in post-order, those that a structure names sorted as bytes, as the C library does. */
    private void visit(Draft draft, Set<String> seen, List<StructureText> ordered) {
        if (!seen.add(draft.name)) {
            return;
        }
        place(draft);
        draft.fields.stream()
                .map(field -> leaf(field).structure())
                .filter(name -> !name.isEmpty())
                .distinct()
                .sorted(Comparator.comparing(Texts::encode, java.util.Arrays::compareUnsigned))
                .forEach(name -> visit(draft(name), seen, ordered));
        List<FieldText> sorted = new ArrayList<>(draft.fields);
        sorted.sort(Comparator.comparingInt(FieldText::offset));
        ordered.add(
                new StructureText(draft.name, draft.recordLength, draft.alignment, layout, sorted, draft.information));
    }

    private Draft draft(String name) {
        Draft draft = drafts.containsKey(name) ? drafts.get(name) : drafts.get(name.strip());
        if (draft == null) {
            throw new FormatException(
                    FormatFault.DESCRIPTION, "structure '" + Texts.shown(name) + "' is named and not described");
        }
        return draft;
    }

    private static Step.Leaf leaf(FieldText field) {
        List<Step> steps = TypeText.steps(field.type());
        return (Step.Leaf) steps.get(steps.size() - 1);
    }

    /** Gives sizes and offsets to the fields that have none. */
    private void place(Draft draft) {
        if (draft.begun) {
            if (draft.recordLength < 0) {
                throw new FormatException(
                        FormatFault.DESCRIPTION, "structure '" + Texts.shown(draft.name) + "' contains itself");
            }
            return;
        }
        draft.begun = true;
        long end = 0;
        int strictest = 1;
        Map<Integer, Integer> behind = new HashMap<>();
        for (int i = 0; i < draft.fields.size(); i++) {
            FieldText field = draft.fields.get(i);
            List<Step> steps = TypeText.steps(field.type());
            boolean pointer = steps.stream().anyMatch(Step.Pointer.class::isInstance);
            Step.Leaf leaf = (Step.Leaf) steps.get(steps.size() - 1);
            if (leaf.kind() == Kind.STRUCTURE && pointer) {
                behind.put(i, field.offset());
            }
            int size = leaf.kind() == Kind.STRUCTURE && pointer ? layout.pointerBytes() : size(field, leaf);
            int alignment = alignment(steps, leaf, size);
            strictest = Math.max(strictest, alignment);
            long offset = field.offset() >= 0 ? field.offset() : end + alignment - 1 & -alignment;
            end = Math.max(end, offset + bytes(steps, size));
            if (end > Integer.MAX_VALUE) {
                throw new FormatException(
                        FormatFault.DESCRIPTION,
                        "structure '" + Texts.shown(draft.name) + "' of " + end + " bytes: at most "
                                + Integer.MAX_VALUE);
            }
            draft.fields.set(i, new FieldText(field.name(), field.type(), size, (int) offset));
        }
        if (draft.recordLength < 0) {
            draft.alignment = strictest;
            draft.recordLength = (int) (end + strictest - 1 & -strictest);
        }
        // Only now: a structure behind a pointer may be this one.
        for (int i : behind.keySet()) {
            FieldText field = draft.fields.get(i);
            Draft target = draft(leaf(field).structure());
            place(target);
            draft.fields.set(i, new FieldText(field.name(), field.type(), target.recordLength, field.offset()));
        }
    }

    private int size(FieldText field, Step.Leaf leaf) {
        if (leaf.kind() == Kind.STRUCTURE) {
            Draft target = draft(leaf.structure());
            place(target);
            return target.recordLength;
        }
        if (field.size() >= 0) {
            return field.size();
        }
        return switch (leaf.kind()) {
            case STRING -> layout.pointerBytes();
            case FLOAT -> 8;
            case CHAR -> 1;
            default -> 4;
        };
    }

    private int alignment(List<Step> steps, Step.Leaf leaf, int size) {
        for (Step step : steps) {
            if (step instanceof Step.Pointer) {
                return layout.pointerBytes();
            }
        }
        if (leaf.kind() == Kind.STRUCTURE) {
            return Math.max(1, draft(leaf.structure()).alignment);
        }
        return Math.max(1, Math.min(MAX_ALIGNMENT, Integer.highestOneBit(Math.max(1, size))));
    }

    /** Returns what the field itself takes: up to its first pointer. */
    private long bytes(List<Step> steps, int size) {
        long count = 1;
        for (Step step : steps) {
            if (step instanceof Step.Pointer) {
                return count * layout.pointerBytes();
            }
            if (step instanceof Step.Fixed fixed) {
                count = Math.min(FormatLimits.FIXED_ELEMENTS, count * fixed.count());
            }
        }
        return count * size;
    }
}
