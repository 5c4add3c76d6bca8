package org.tamanoir.format;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * How what lies at a place of a source becomes what lies at a place of the target.
 *
 * @param next behind the pointer or of the array's elements
 * @param source the type in the source; where it is no array and the target has one of 1 element, the element's
 */
record TypePlan(
        Step step,
        Type source,
        Type target,
        List<Dimension> sourceDimensions,
        List<Dimension> targetDimensions,
        int sourceBytes,
        int targetBytes,
        @Nullable TypePlan next,
        @Nullable Move move,
        @Nullable StructurePlan structure) {
    enum Step {
        POINTER,
        ARRAY,
        STRING,
        NUMBER,
        STRUCTURE
    }

    static TypePlan pointer(Type source, Type target, TypePlan next) {
        return new TypePlan(Step.POINTER, source, target, List.of(), List.of(), 0, 0, next, null, null);
    }

    static TypePlan leaf(Step step, Type source, Type target, @Nullable Move move, @Nullable StructurePlan plan) {
        return new TypePlan(
                step, source, target, List.of(), List.of(), source.bytes(), target.bytes(), null, move, plan);
    }
}
