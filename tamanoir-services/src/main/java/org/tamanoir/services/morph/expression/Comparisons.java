package org.tamanoir.services.morph.expression;

import dev.cel.common.Operator;
import org.jspecify.annotations.Nullable;
import org.tamanoir.format.Accessor;
import org.tamanoir.format.RecordView;
import org.tamanoir.services.morph.expression.Closures.Bool;
import org.tamanoir.services.morph.expression.Closures.Floating;
import org.tamanoir.services.morph.expression.Closures.Whole;

/** Closures of the six comparisons. */
final class Comparisons {
    /** What is compared has no order: NaN. */
    static final int UNORDERED = Integer.MIN_VALUE;

    private Comparisons() {}

    /** Compares two values. */
    interface Order {
        int compare(RecordView record);
    }

    static Bool order(Operator operator, Order order) {
        return switch (operator) {
            case EQUALS -> record -> order.compare(record) == 0;
            case NOT_EQUALS -> record -> order.compare(record) != 0;
            case LESS ->
                record -> {
                    int compared = order.compare(record);
                    return compared < 0 && compared != UNORDERED;
                };
            case LESS_EQUALS ->
                record -> {
                    int compared = order.compare(record);
                    return compared <= 0 && compared != UNORDERED;
                };
            case GREATER -> record -> order.compare(record) > 0;
            case GREATER_EQUALS -> record -> order.compare(record) >= 0;
            default -> throw new ClosureCompiler.Uncovered();
        };
    }

    static Operator mirrored(Operator operator) {
        return switch (operator) {
            case LESS -> Operator.GREATER;
            case LESS_EQUALS -> Operator.GREATER_EQUALS;
            case GREATER -> Operator.LESS;
            case GREATER_EQUALS -> Operator.LESS_EQUALS;
            default -> operator;
        };
    }

    /**
     * Compares signed numbers; a field with a constant, which most are, in one closure.
     *
     * @param field a's, if it is one of the top structure
     * @param constant b's value, if it is one
     */
    static Bool whole(Operator operator, Whole a, @Nullable Accessor field, Whole b, @Nullable Long constant) {
        if (field != null && constant != null) {
            long with = constant;
            return switch (operator) {
                case EQUALS -> record -> field.getLong(record) == with;
                case NOT_EQUALS -> record -> field.getLong(record) != with;
                case LESS -> record -> field.getLong(record) < with;
                case LESS_EQUALS -> record -> field.getLong(record) <= with;
                case GREATER -> record -> field.getLong(record) > with;
                case GREATER_EQUALS -> record -> field.getLong(record) >= with;
                default -> throw new ClosureCompiler.Uncovered();
            };
        }
        return switch (operator) {
            case EQUALS -> record -> a.get(record) == b.get(record);
            case NOT_EQUALS -> record -> a.get(record) != b.get(record);
            case LESS -> record -> a.get(record) < b.get(record);
            case LESS_EQUALS -> record -> a.get(record) <= b.get(record);
            case GREATER -> record -> a.get(record) > b.get(record);
            case GREATER_EQUALS -> record -> a.get(record) >= b.get(record);
            default -> throw new ClosureCompiler.Uncovered();
        };
    }

    static Bool floating(Operator operator, Floating a, Floating b) {
        return switch (operator) {
            case EQUALS -> record -> a.get(record) == b.get(record);
            case NOT_EQUALS -> record -> a.get(record) != b.get(record);
            case LESS -> record -> a.get(record) < b.get(record);
            case LESS_EQUALS -> record -> a.get(record) <= b.get(record);
            case GREATER -> record -> a.get(record) > b.get(record);
            case GREATER_EQUALS -> record -> a.get(record) >= b.get(record);
            default -> throw new ClosureCompiler.Uncovered();
        };
    }
}
