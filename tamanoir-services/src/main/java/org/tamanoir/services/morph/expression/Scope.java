package org.tamanoir.services.morph.expression;

import dev.cel.common.CelAbstractSyntaxTree;
import dev.cel.common.Operator;
import dev.cel.common.ast.CelConstant;
import dev.cel.common.ast.CelExpr;
import dev.cel.common.ast.CelExpr.ExprKind;
import dev.cel.common.types.CelKind;
import dev.cel.common.types.CelType;
import dev.cel.common.types.ListType;
import dev.cel.common.types.MapType;
import dev.cel.common.types.SimpleType;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** What of CEL expressions have, as docs/expressions.md lists it; the rest is refused by its name. Stateless; any thread. */
final class Scope {
    private static final Set<String> FUNCTIONS = Set.of(
            "size",
            "int",
            "uint",
            "double",
            "string",
            "bytes",
            "startsWith",
            "endsWith",
            "contains",
            "matches",
            "timestamp",
            "duration",
            "getFullYear",
            "getMonth",
            "getDate",
            "getDayOfMonth",
            "getDayOfWeek",
            "getDayOfYear",
            "getHours",
            "getMinutes",
            "getSeconds",
            "getMilliseconds");

    private static final Set<CelKind> KEYS = Set.of(CelKind.BOOL, CelKind.INT, CelKind.UINT, CelKind.STRING);

    private Scope() {}

    /** Refuses what is known of the text alone. */
    static void require(String text, CelAbstractSyntaxTree tree, CelExpr expr) {
        @Nullable
        String why = switch (expr.getKind()) {
            case STRUCT -> "structures are not made in expressions: give their fields to the handler project";
            case CALL -> {
                String function = expr.call().function();
                yield FUNCTIONS.contains(function)
                                || Operator.findReverse(function).isPresent()
                                || function.startsWith("@")
                        ? null
                        : "there is no function '" + ExpressionException.shown(function) + "' in expressions: see the"
                                + " operators of docs/expressions.md";
            }
            case CONSTANT -> constant(expr.constant());
            case LIST -> mixed("list", "elements", expr.list().elements());
            case MAP -> map(expr.map().entries());
            default -> null;
        };
        refuse(text, tree, expr, why);
    }

    private static @Nullable String constant(CelConstant constant) {
        return switch (constant.getKind()) {
            case NULL_VALUE -> "there is no null in expressions: isnull(f) tells whether a field is null";
            case DOUBLE_VALUE ->
                Double.isInfinite(constant.doubleValue())
                        ? "a number beyond what 64 bits hold: at most " + Double.MAX_VALUE
                        : null;
            default -> null;
        };
    }

    private static @Nullable String map(List<CelExpr.CelMap.Entry> entries) {
        List<CelExpr> keys = entries.stream().map(CelExpr.CelMap.Entry::key).toList();
        Set<CelConstant> seen = new HashSet<>();
        for (CelExpr key : keys) {
            if (key.getKind() == ExprKind.Kind.CONSTANT && !seen.add(key.constant())) {
                return "a map has a key twice: leave one out";
            }
        }
        String keysMixed = mixed("map", "keys", keys);
        return keysMixed != null
                ? keysMixed
                : mixed(
                        "map",
                        "values",
                        entries.stream().map(CelExpr.CelMap.Entry::value).toList());
    }

    private static @Nullable String mixed(String what, String of, List<CelExpr> parts) {
        long kinds = parts.stream()
                .filter(part -> part.getKind() == ExprKind.Kind.CONSTANT)
                .map(part -> part.constant().getKind())
                .distinct()
                .count();
        return kinds > 1 ? mixed(what, of) : null;
    }

    private static String mixed(String what, String of) {
        return "a " + what + " has " + of + " of several kinds: make them one by double(…), int(…), string(…)";
    }

    /** Refuses what is known when kinds are, those of a format's fields among them. */
    static void requireKinds(String text, CelAbstractSyntaxTree tree, CelExpr expr) {
        CelType type = tree.getType(expr.id()).orElse(SimpleType.DYN);
        @Nullable String why = null;
        if (expr.getKind() == ExprKind.Kind.IDENT && type.kind() == CelKind.TYPE) {
            why = "there are no types as values in expressions: '"
                    + ExpressionException.shown(expr.ident().name()) + "' stands alone";
        } else if (expr.getKind() == ExprKind.Kind.LIST
                && !expr.list().elements().isEmpty()
                && type instanceof ListType list
                && list.elemType().kind() == CelKind.DYN) {
            why = mixed("list", "elements");
        } else if (expr.getKind() == ExprKind.Kind.MAP
                && !expr.map().entries().isEmpty()
                && type instanceof MapType map) {
            why = map.keyType().kind() == CelKind.DYN
                    ? mixed("map", "keys")
                    : map.valueType().kind() == CelKind.DYN
                            ? mixed("map", "values")
                            : KEYS.contains(map.keyType().kind())
                                    ? null
                                    : "keys of a map are " + map.keyType().name()
                                            + ": must be int, uint, bool or string";
        }
        refuse(text, tree, expr, why);
    }

    private static void refuse(String text, CelAbstractSyntaxTree tree, CelExpr expr, @Nullable String why) {
        if (why != null) {
            throw new ExpressionException(text, Problems.column(tree, expr), why);
        }
    }
}
