package org.tamanoir.format;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Finds the target that a format fits best, among those whose top structure has the same name, as the C library's
 * {@code evol.c} does: by the fields that one has and the other lacks. Sizes, offsets and orders count for nothing.
 */
public final class FormatMatcher {
    /** The share of a target's fields that an older format may lack. */
    private static final double MAX_LACK = 0.2;

    private FormatMatcher() {}

    /** What a source has to have. */
    public enum Policy {
        /** The same fields, unless older formats of it are known. */
        STRICT,
        /** All that the target needs. */
        SUPERSET
    }

    /**
     * How two formats differ.
     *
     * @param surplus fields that the target lacks or has of another type
     * @param lack fields that the source lacks or has of another type
     */
    private record Difference(int target, int surplus, int lack) {
        boolean isLessThan(Difference other) {
            return lack < other.lack || lack == other.lack && surplus < other.surplus;
        }
    }

    /**
     * Returns the number of the target that is chosen, -1 for none.
     *
     * @param formats finds the older formats that the source's optional information names; null for one that is unknown
     */
    public static int choose(
            Format source, List<Format> targets, Policy policy, Function<FormatId, @Nullable Format> formats) {
        Difference best = best(source, targets);
        if (best == null) {
            return -1;
        }
        if (best.surplus == 0 && best.lack == 0) {
            return best.target;
        }
        List<FormatId> older = older(source);
        if (older.isEmpty()) {
            return policy == Policy.SUPERSET && best.lack == 0 ? best.target : -1;
        }
        for (FormatId id : older) {
            Format before = formats.apply(id);
            Difference one = before == null ? null : best(before, targets);
            if (one != null && (policy == Policy.STRICT ? one.isLessThan(best) : one.surplus < best.surplus)) {
                best = one;
            }
        }
        Format chosen = targets.get(best.target);
        return best.lack < MAX_LACK * fields(chosen.top(), new HashMap<>()) ? best.target : -1;
    }

    /** Returns the older formats that a format says records can be turned into. */
    public static List<FormatId> older(Format format) {
        List<FormatId> ids = new ArrayList<>();
        for (OptionalInformation one : format.top().information()) {
            if (one.type() == OptionalInformation.EVOLUTION) {
                ids.add(FormatId.read(ByteBuffer.wrap(one.bytes()), 0, one.bytes().length));
            }
        }
        return ids;
    }

    private static @Nullable Difference best(Format source, List<Format> targets) {
        Difference best = null;
        for (int i = 0; i < targets.size(); i++) {
            if (targets.get(i).name().equals(source.name())) {
                Difference one = difference(source, targets.get(i), i);
                best = best == null || one.isLessThan(best) ? one : best;
            }
        }
        return best;
    }

    private static Difference difference(Format source, Format target, int number) {
        int surplus = missing(source.top(), target.top());
        int lack = missing(target.top(), source.top());
        Map<String, Structure> known =
                target.structures().stream().skip(1).collect(Collectors.toMap(Structure::name, s -> s));
        for (Structure structure :
                source.structures().subList(1, source.structures().size())) {
            Structure other = known.get(structure.name());
            if (other != null) {
                surplus += missing(structure, other);
                lack += missing(other, structure);
            }
        }
        return new Difference(number, surplus, lack);
    }

    private static int missing(Structure of, Structure in) {
        int missing = 0;
        for (Field field : of.fields()) {
            Field other = in.field(field.name());
            missing += other == null || !isAlike(field, other) ? 1 : 0;
        }
        return missing;
    }

    private static boolean isAlike(Field one, Field other) {
        if (isCounted(one.type()) && isCounted(other.type())) {
            return text(one).equals(text(other));
        }
        return one.type().kind() == other.type().kind() && elements(one.type()) == elements(other.type());
    }

    private static String text(Field field) {
        return field.typeText().strip();
    }

    private static boolean isCounted(Type type) {
        return type.dimensions().stream().anyMatch(d -> d.control() != null)
                || !type.isLeaf() && isCounted(type.target());
    }

    private static long elements(Type type) {
        long here = type.dimensions().stream()
                .mapToLong(d -> d.control() == null ? d.count() : 1)
                .reduce(1, (a, b) -> a * b);
        return type.isLeaf() ? 1 : here * elements(type.target());
    }

    /** Returns the fields of a structure and of those that it names, at each use; of a circle nothing again. */
    private static long fields(Structure structure, Map<Structure, Long> known) {
        Long before = known.putIfAbsent(structure, 0L);
        if (before != null) {
            return before;
        }
        long all = 0;
        for (Field field : structure.fields()) {
            Structure inner = field.type().structure();
            all += 1 + (inner == null ? 0 : fields(inner, known));
        }
        // Structures within one another unfold without end: what decides is far below.
        all = Math.min(all, FormatLimits.FIXED_ELEMENTS);
        known.put(structure, all);
        return all;
    }
}
