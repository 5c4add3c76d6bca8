package org.tamanoir.services.morph.expression;

import dev.cel.common.CelErrorCode;
import dev.cel.common.exceptions.CelRuntimeException;
import dev.cel.runtime.CelEvaluationException;
import dev.cel.runtime.CelRuntime;
import dev.cel.runtime.CelRuntimeFactory;
import java.util.function.UnaryOperator;
import org.tamanoir.format.RecordView;

/**
 * An expression on dev.cel's own runtime, with our {@linkplain Operators operators}; it allocates.
 *
 * <p>Thread contract: one thread.
 */
final class RuntimeProgram {
    private final CelRuntime.Program program;
    private final RecordValues values;

    RuntimeProgram(Checked checked) {
        values = new RecordValues(checked.types());
        try {
            program = CelRuntimeFactory.plannerRuntimeBuilder()
                    .setOptions(Checked.OPTIONS)
                    .setTypeProvider(checked.types())
                    .setStandardFunctions(Operators.others())
                    .addFunctionBindings(Operators.bindings())
                    .addFunctionBindings(Failing.bindings())
                    .build()
                    .createProgram(Failing.tree(checked.tree()));
        } catch (CelEvaluationException e) {
            throw new ExpressionException(checked.text(), 0, ExpressionException.shown(String.valueOf(e.getMessage())));
        }
    }

    Object value(RecordView record) {
        return run(record, UnaryOperator.identity());
    }

    Object plain(RecordView record) {
        return run(record, values::result);
    }

    private Object run(RecordView record, UnaryOperator<Object> then) {
        try {
            return then.apply(program.eval(name -> values.find(record, name)));
        } catch (CelEvaluationException e) {
            throw failure(e);
        } catch (RecordValues.DamagedError e) {
            throw e.fault;
        }
    }

    /** Returns the reason of a failure, which dev.cel may wrap in some others. */
    static EvaluationException failure(Exception failed) {
        EvaluationException found = EvaluationException.OTHER;
        for (Throwable cause = failed; cause != null; cause = cause.getCause()) {
            if (cause instanceof EvaluationException known) {
                return known;
            }
            found = found == EvaluationException.OTHER ? known(cause) : found;
        }
        return found;
    }

    private static EvaluationException known(Throwable cause) {
        CelErrorCode code = cause instanceof CelEvaluationException evaluated
                ? evaluated.getErrorCode()
                : cause instanceof CelRuntimeException run ? run.getErrorCode() : CelErrorCode.INTERNAL_ERROR;
        return switch (code) {
            case NUMERIC_OVERFLOW -> EvaluationException.OVERFLOW;
            case DIVIDE_BY_ZERO -> EvaluationException.DIVISION;
            case INDEX_OUT_OF_BOUNDS, ATTRIBUTE_NOT_FOUND -> EvaluationException.INDEX;
            case BAD_FORMAT -> EvaluationException.CONVERSION;
            case ITERATION_BUDGET_EXCEEDED -> EvaluationException.ITERATIONS;
            default -> EvaluationException.OTHER;
        };
    }
}
