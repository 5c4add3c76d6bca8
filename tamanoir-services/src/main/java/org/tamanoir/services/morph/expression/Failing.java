package org.tamanoir.services.morph.expression;

import com.google.common.collect.ImmutableList;
import dev.cel.common.CelAbstractSyntaxTree;
import dev.cel.common.Operator;
import dev.cel.common.ast.CelExpr;
import dev.cel.common.ast.CelExpr.CelCall;
import dev.cel.common.ast.CelExpr.CelComprehension;
import dev.cel.common.values.ErrorValue;
import dev.cel.runtime.CelFunctionBinding;
import java.util.List;
import java.util.Optional;

/**
 * Makes {@code &&}, {@code ||}, {@code exists} and {@code all} fail on dev.cel's runtime where none of their operands
 * decides. They hand the failure on as a value, which only operands of {@code &&} and {@code ||}, and the whole expression,
 * take for one: all else would compare it, put it in a list, or fail for another reason. There {@link #FUNCTION} is called
 * with the value.
 *
 * <p>Thread contract: one thread.
 */
final class Failing {
    /** No name that an expression can have. */
    private static final String FUNCTION = "@value";

    private long lastId;

    private Failing(long lastId) {
        this.lastId = lastId;
    }

    static CelAbstractSyntaxTree tree(CelAbstractSyntaxTree tree) {
        long lastId = tree.getTypeMap().keySet().stream()
                .mapToLong(each -> each)
                .max()
                .orElse(0);
        return CelAbstractSyntaxTree.newCheckedAst(
                new Failing(lastId).of(tree.getExpr(), true),
                tree.getSource(),
                tree.getReferenceMap(),
                tree.getTypeMap());
    }

    static ImmutableList<CelFunctionBinding> bindings() {
        return CelFunctionBinding.fromOverloads(FUNCTION, CelFunctionBinding.from("value", Object.class, value -> {
                    if (value instanceof ErrorValue failed) {
                        throw RuntimeProgram.failure(failed.value());
                    }
                    return value;
                }))
                .asList();
    }

    /** @param takesFailures whether what the part is an operand of takes a failure for one */
    private CelExpr of(CelExpr expr, boolean takesFailures) {
        return switch (expr.getKind()) {
            case SELECT ->
                expr.toBuilder()
                        .setSelect(expr.select().toBuilder()
                                .setOperand(of(expr.select().operand(), false))
                                .build())
                        .build();
            case CALL -> call(expr, takesFailures);
            case LIST -> {
                var list = expr.list().toBuilder();
                List<CelExpr> elements = expr.list().elements();
                for (int i = 0; i < elements.size(); i++) {
                    list.setElement(i, of(elements.get(i), false));
                }
                yield expr.toBuilder().setList(list.build()).build();
            }
            case MAP -> {
                var map = expr.map().toBuilder();
                List<CelExpr.CelMap.Entry> entries = expr.map().entries();
                for (int i = 0; i < entries.size(); i++) {
                    CelExpr.CelMap.Entry entry = entries.get(i);
                    map.setEntry(
                            i,
                            entry.toBuilder()
                                    .setKey(of(entry.key(), false))
                                    .setValue(of(entry.value(), false))
                                    .build());
                }
                yield expr.toBuilder().setMap(map.build()).build();
            }
            case COMPREHENSION -> {
                CelComprehension loop = expr.comprehension();
                CelExpr made = expr.toBuilder()
                        .setComprehension(loop.toBuilder()
                                .setIterRange(of(loop.iterRange(), false))
                                .setAccuInit(of(loop.accuInit(), false))
                                .setLoopCondition(of(loop.loopCondition(), false))
                                // A failure is what the loop has so far: a later element may decide.
                                .setLoopStep(of(loop.loopStep(), true))
                                .setResult(of(loop.result(), true))
                                .build())
                        .build();
                yield takesFailures ? made : strict(made);
            }
            default -> expr;
        };
    }

    private CelExpr call(CelExpr expr, boolean takesFailures) {
        Optional<Operator> operator = Operator.findReverse(expr.call().function());
        boolean joins = operator.isPresent()
                && (operator.get() == Operator.LOGICAL_AND || operator.get() == Operator.LOGICAL_OR);
        boolean chooses = operator.isPresent() && operator.get() == Operator.CONDITIONAL;
        CelCall.Builder call = expr.call().toBuilder();
        expr.call().target().ifPresent(target -> call.setTarget(of(target, false)));
        List<CelExpr> operands = expr.call().args();
        for (int i = 0; i < operands.size(); i++) {
            call.setArg(i, of(operands.get(i), joins || chooses && i > 0 && takesFailures));
        }
        CelExpr made = expr.toBuilder().setCall(call.build()).build();
        return joins && !takesFailures ? strict(made) : made;
    }

    private CelExpr strict(CelExpr expr) {
        return CelExpr.ofCall(++lastId, Optional.empty(), FUNCTION, ImmutableList.of(expr));
    }
}
