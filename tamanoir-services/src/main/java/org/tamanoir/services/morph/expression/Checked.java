package org.tamanoir.services.morph.expression;

import com.google.common.collect.ImmutableList;
import dev.cel.common.CelAbstractSyntaxTree;
import dev.cel.common.CelOptions;
import dev.cel.common.CelValidationException;
import dev.cel.common.CelValidationResult;
import dev.cel.common.Operator;
import dev.cel.common.ast.CelConstant;
import dev.cel.common.ast.CelExpr;
import dev.cel.common.ast.CelExpr.CelComprehension;
import dev.cel.common.ast.CelExpr.ExprKind;
import dev.cel.compiler.CelCompiler;
import dev.cel.compiler.CelCompilerBuilder;
import dev.cel.compiler.CelCompilerFactory;
import dev.cel.parser.CelMacro;
import dev.cel.parser.CelMacroExprFactory;
import dev.cel.parser.CelStandardMacro;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.tamanoir.format.Field;
import org.tamanoir.format.Format;

/**
 * An expression that was parsed and checked against a format.
 *
 * @param fields top fields that it reads, by the names that the format has for them
 */
record Checked(String text, CelAbstractSyntaxTree tree, RecordTypes types, Set<String> fields) {
    static final CelOptions OPTIONS = CelOptions.current()
            .maxExpressionCodePointSize(Expression.CHARACTERS)
            .maxParseRecursionDepth(50)
            .maxParseErrorRecoveryLimit(1)
            .comprehensionMaxIterations(Expression.ITERATIONS)
            .maxRegexProgramSize(1_000)
            .enableHeterogeneousNumericComparisons(true)
            .build();

    static Checked of(String text, Format format) {
        RecordTypes types;
        try {
            types = new RecordTypes(format);
        } catch (IllegalArgumentException e) {
            throw new ExpressionException(text, 0, String.valueOf(e.getMessage()));
        }
        CelCompilerBuilder builder =
                compiler().setTypeProvider(types).addVar(RecordTypes.RECORD, types.of(format.top()));
        types.fields(format.top()).forEach((name, field) -> builder.addVar(name, types.of(field.type())));
        String record = types.recordName();
        if (record != null) {
            builder.addVar(record, types.of(format.top()));
        }
        CelCompiler compiler = builder.build();
        CelAbstractSyntaxTree tree = tree(text, compiler.check(parse(text, compiler, types)), types);
        requireKinds(text, tree, tree.getExpr());
        Set<String> fields = new LinkedHashSet<>();
        collect(tree.getExpr(), types, new HashSet<>(), fields);
        return new Checked(text, tree, types, Set.copyOf(fields));
    }

    private static CelCompilerBuilder compiler() {
        return CelCompilerFactory.standardCelCompilerBuilder()
                .setOptions(OPTIONS)
                .setStandardMacros(CelStandardMacro.STANDARD_MACROS)
                .addMacros(CelMacro.newGlobalMacro("isnull", 1, Checked::isNull));
    }

    private static CelAbstractSyntaxTree parse(String text, CelCompiler compiler, @Nullable RecordTypes types) {
        if (text.length() > Expression.CHARACTERS) {
            throw new ExpressionException(
                    text,
                    0,
                    text.length() + " characters, at most " + Expression.CHARACTERS + ": use several handlers");
        }
        CelAbstractSyntaxTree parsed = tree(text, compiler.parse(text), types);
        refuse(text, parsed, parsed.getExpr());
        return parsed;
    }

    private static CelAbstractSyntaxTree tree(String text, CelValidationResult result, @Nullable RecordTypes types) {
        if (result.hasError()) {
            throw Problems.of(text, result.getErrors().get(0), types);
        }
        try {
            return result.getAst();
        } catch (CelValidationException e) {
            throw new ExpressionException(text, 0, ExpressionException.shown(String.valueOf(e.getMessage())));
        }
    }

    /** Expands {@code isnull(f)} into {@code !has(record.f)}. */
    private static Optional<CelExpr> isNull(
            CelMacroExprFactory factory, CelExpr target, ImmutableList<CelExpr> arguments) {
        CelExpr of = arguments.get(0);
        CelExpr owner;
        String name;
        if (of.getKind() == ExprKind.Kind.IDENT) {
            owner = factory.newIdentifier(RecordTypes.RECORD);
            name = of.ident().name();
        } else if (of.getKind() == ExprKind.Kind.SELECT && !of.select().testOnly()) {
            owner = of.select().operand();
            name = of.select().field();
        } else {
            return Optional.of(factory.reportError("isnull takes a field, as in isnull(hub) or isnull(flight.hub)"));
        }
        return Optional.of(
                factory.newGlobalCall(Operator.LOGICAL_NOT.getFunction(), factory.newSelect(owner, name, true)));
    }

    /** Refuses what would be costly, or fail for each record. */
    private static void refuse(String text, CelAbstractSyntaxTree tree, CelExpr expr) {
        Scope.require(text, tree, expr);
        if (expr.getKind() == ExprKind.Kind.CALL && expr.call().function().equals("matches")) {
            pattern(text, tree, expr.call().args());
        }
        children(expr).forEach(child -> refuse(text, tree, child));
    }

    private static void requireKinds(String text, CelAbstractSyntaxTree tree, CelExpr expr) {
        Scope.requireKinds(text, tree, expr);
        children(expr).forEach(child -> requireKinds(text, tree, child));
    }

    private static void pattern(String text, CelAbstractSyntaxTree tree, List<CelExpr> arguments) {
        for (CelExpr pattern : arguments.subList(Math.max(0, arguments.size() - 1), arguments.size())) {
            boolean constant = pattern.getKind() == ExprKind.Kind.CONSTANT
                    && pattern.constant().getKind() == CelConstant.Kind.STRING_VALUE;
            try {
                if (!constant) {
                    throw new IllegalArgumentException("matches takes a pattern that stands in the expression: 'text'");
                }
                RegularExpression.compile(pattern.constant().stringValue());
            } catch (IllegalArgumentException e) {
                throw new ExpressionException(text, Problems.column(tree, pattern), String.valueOf(e.getMessage()));
            }
        }
    }

    private static Iterable<CelExpr> children(CelExpr expr) {
        ImmutableList.Builder<CelExpr> all = ImmutableList.builder();
        switch (expr.getKind()) {
            case SELECT -> all.add(expr.select().operand());
            case CALL -> {
                expr.call().target().ifPresent(all::add);
                all.addAll(expr.call().args());
            }
            case LIST -> all.addAll(expr.list().elements());
            case MAP -> expr.map().entries().forEach(entry -> all.add(entry.key(), entry.value()));
            case COMPREHENSION -> {
                CelComprehension loop = expr.comprehension();
                all.add(loop.iterRange(), loop.accuInit(), loop.loopCondition(), loop.loopStep(), loop.result());
            }
            default -> {}
        }
        return all.build();
    }

    private static void collect(CelExpr expr, RecordTypes types, Set<String> hidden, Set<String> into) {
        Map<String, Field> fields = types.fields(types.format().top());
        if (expr.getKind() == ExprKind.Kind.IDENT) {
            String name = expr.ident().name();
            if (isRecord(expr, types, hidden)) {
                fields.values().forEach(field -> into.add(field.name()));
            } else if (!hidden.contains(name)) {
                add(fields.get(name), into);
            }
        } else if (expr.getKind() == ExprKind.Kind.SELECT
                && isRecord(expr.select().operand(), types, hidden)) {
            add(fields.get(expr.select().field()), into);
        } else if (expr.getKind() == ExprKind.Kind.COMPREHENSION) {
            CelComprehension loop = expr.comprehension();
            collect(loop.iterRange(), types, hidden, into);
            Set<String> inside = new HashSet<>(hidden);
            inside.add(loop.iterVar());
            inside.add(loop.iterVar2());
            inside.add(loop.accuVar());
            collect(loop.accuInit(), types, hidden, into);
            collect(loop.loopCondition(), types, inside, into);
            collect(loop.loopStep(), types, inside, into);
            collect(loop.result(), types, inside, into);
        } else {
            children(expr).forEach(child -> collect(child, types, hidden, into));
        }
    }

    /**
     * Returns the top fields that an expression may read of a record of some format; null where that may be any.
     *
     * @param formats those whose fields are looked for; what none of them has is a field of the same name elsewhere
     */
    static @Nullable Set<String> reads(String text, Collection<Format> formats) {
        Set<String> words = new HashSet<>();
        Set<String> alone = new HashSet<>();
        words(parse(text, compiler().build(), null).getExpr(), new HashSet<>(), words, alone);
        Set<String> known = new HashSet<>();
        Set<String> fields = new HashSet<>();
        for (Format format : formats) {
            String record = RecordTypes.identifier(format.name());
            if (alone.contains(record)) {
                return null;
            }
            known.add(record);
            for (Field field : format.top().fields()) {
                String name = RecordTypes.identifier(field.name());
                if (words.contains(name)) {
                    fields.add(field.name());
                    known.add(name);
                }
            }
        }
        words.removeAll(known);
        // Elsewhere it may stand for a field with another character in its name.
        if (words.contains(RecordTypes.RECORD) || words.stream().anyMatch(word -> word.contains("_"))) {
            return null;
        }
        fields.addAll(words);
        return fields;
    }

    /** Collects the names of variables, and of what is selected of them; {@code alone} are those of which nothing is. */
    private static void words(CelExpr expr, Set<String> hidden, Set<String> words, Set<String> alone) {
        if (expr.getKind() == ExprKind.Kind.IDENT) {
            if (!hidden.contains(expr.ident().name())) {
                words.add(expr.ident().name());
                alone.add(expr.ident().name());
            }
        } else if (expr.getKind() == ExprKind.Kind.SELECT
                && expr.select().operand().getKind() == ExprKind.Kind.IDENT) {
            String owner = expr.select().operand().ident().name();
            if (!hidden.contains(owner)) {
                words.add(expr.select().field());
                if (!owner.equals(RecordTypes.RECORD)) {
                    words.add(owner);
                }
            }
        } else {
            Set<String> inside = hidden;
            if (expr.getKind() == ExprKind.Kind.COMPREHENSION) {
                CelComprehension loop = expr.comprehension();
                inside = new HashSet<>(hidden);
                inside.addAll(List.of(loop.iterVar(), loop.iterVar2(), loop.accuVar()));
                // The range is outside the loop, where its variable may be a field's name.
                words(loop.iterRange(), hidden, words, alone);
            }
            for (CelExpr child : children(expr)) {
                words(child, inside, words, alone);
            }
        }
    }

    private static boolean isRecord(CelExpr expr, RecordTypes types, Set<String> hidden) {
        if (expr.getKind() != ExprKind.Kind.IDENT
                || hidden.contains(expr.ident().name())) {
            return false;
        }
        String name = expr.ident().name();
        return name.equals(RecordTypes.RECORD) || name.equals(types.recordName());
    }

    private static void add(@Nullable Field field, Set<String> into) {
        if (field != null) {
            into.add(field.name());
        }
    }
}
