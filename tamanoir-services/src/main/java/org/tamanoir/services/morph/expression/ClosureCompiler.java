package org.tamanoir.services.morph.expression;

import com.google.re2j.Pattern;
import dev.cel.common.CelAbstractSyntaxTree;
import dev.cel.common.Operator;
import dev.cel.common.ast.CelConstant;
import dev.cel.common.ast.CelExpr;
import dev.cel.common.ast.CelExpr.CelCall;
import dev.cel.common.ast.CelExpr.CelComprehension;
import dev.cel.common.ast.CelExpr.ExprKind;
import dev.cel.common.types.CelKind;
import dev.cel.common.types.SimpleType;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiPredicate;
import java.util.function.Consumer;
import java.util.function.LongBinaryOperator;
import org.jspecify.annotations.Nullable;
import org.tamanoir.format.Accessor;
import org.tamanoir.format.Field;
import org.tamanoir.format.RecordView;
import org.tamanoir.format.Structure;
import org.tamanoir.services.morph.expression.Closures.Bool;
import org.tamanoir.services.morph.expression.Closures.Floating;
import org.tamanoir.services.morph.expression.Closures.Place;
import org.tamanoir.services.morph.expression.Closures.Text;
import org.tamanoir.services.morph.expression.Closures.Whole;

/**
 * Turns a checked tree into closures. What they do not cover throws {@link Uncovered}: the whole expression then runs on
 * dev.cel's runtime.
 *
 * <p>Thread contract: one thread, as what it makes.
 */
final class ClosureCompiler {
    private final CelAbstractSyntaxTree tree;
    private final RecordTypes types;
    private final Loops loops;
    private final Map<String, Reference> variables = new HashMap<>();

    ClosureCompiler(CelAbstractSyntaxTree tree, RecordTypes types, Loops loops) {
        this.tree = tree;
        this.types = types;
        this.loops = loops;
    }

    /** Says that an expression has a part for which there is no closure. */
    static final class Uncovered extends RuntimeException {
        private static final long serialVersionUID = 1L;

        Uncovered() {
            super("no closure for this", null, false, false);
        }
    }

    /** How many elements an evaluation may still look at. */
    static final class Loops {
        private int left;

        void begin() {
            left = Expression.ITERATIONS;
        }

        void spend() {
            if (--left < 0) {
                throw EvaluationException.ITERATIONS;
            }
        }
    }

    /** The element that a loop is at. */
    private static final class Cell implements Place {
        int at;

        @Override
        public int at(RecordView record) {
            return at;
        }
    }

    /** What the operator {@code in} looks for in a record, in the one of these that its kind has. */
    private static final class Sought {
        private long whole;
        private double floating;
        private final TextView text = new TextView();

        Bool isWhole(Whole one) {
            return record -> one.get(record) == whole;
        }

        Bool isFloating(Floating one) {
            return record -> one.get(record) == floating;
        }

        Bool isText(Text one) {
            TextView other = new TextView();
            return record -> {
                one.get(record, other);
                return text.equalTo(other);
            };
        }
    }

    CelKind kind(CelExpr expr) {
        return tree.getType(expr.id()).orElse(SimpleType.DYN).kind();
    }

    Bool bool(CelExpr expr) {
        if (kind(expr) != CelKind.BOOL) {
            throw new Uncovered();
        }
        switch (expr.getKind()) {
            case CONSTANT -> {
                boolean value = expr.constant().booleanValue();
                return record -> value;
            }
            case CALL -> {
                return boolCall(expr, expr.call());
            }
            case COMPREHENSION -> {
                return quantifier(expr.comprehension());
            }
            default -> {
                if (expr.getKind() == ExprKind.Kind.SELECT && expr.select().testOnly()) {
                    Reference field =
                            field(expr.select().operand(), expr.select().field());
                    return record -> !field.isNull(record);
                }
                Reference field = reference(expr);
                Accessor accessor = field.accessor();
                return field.isTop() ? accessor::getBoolean : record -> field.whole(record) != 0;
            }
        }
    }

    private Bool boolCall(CelExpr expr, CelCall call) {
        Optional<Operator> operator = Operator.findReverse(call.function());
        if (operator.isPresent()) {
            List<CelExpr> arguments = call.args();
            switch (operator.get()) {
                case LOGICAL_AND, LOGICAL_OR -> {
                    return chain(expr, operator.get());
                }
                case LOGICAL_NOT -> {
                    Bool of = bool(arguments.get(0));
                    return record -> !of.test(record);
                }
                case CONDITIONAL -> {
                    Bool condition = bool(arguments.get(0));
                    Bool yes = bool(arguments.get(1));
                    Bool no = bool(arguments.get(2));
                    return record -> condition.test(record) ? yes.test(record) : no.test(record);
                }
                case EQUALS, NOT_EQUALS, LESS, LESS_EQUALS, GREATER, GREATER_EQUALS -> {
                    return comparison(operator.get(), arguments.get(0), arguments.get(1));
                }
                case IN -> {
                    return membership(arguments.get(0), arguments.get(1));
                }
                default -> throw new Uncovered();
            }
        }
        return textCall(call);
    }

    /** Joins operands from all levels; one that fails counts only if no other decides, as CEL says. */
    private Bool chain(CelExpr expr, Operator operator) {
        List<Bool> operands = new ArrayList<>();
        collect(expr, operator, operands);
        Bool[] all = operands.toArray(Bool[]::new);
        boolean decides = operator == Operator.LOGICAL_OR;
        return record -> {
            EvaluationException failed = null;
            for (Bool one : all) {
                try {
                    if (one.test(record) == decides) {
                        return decides;
                    }
                } catch (EvaluationException e) {
                    failed = failed == null ? e : failed;
                }
            }
            if (failed != null) {
                throw failed;
            }
            return !decides;
        };
    }

    private void collect(CelExpr expr, Operator operator, List<Bool> into) {
        if (expr.getKind() == ExprKind.Kind.CALL && expr.call().function().equals(operator.getFunction())) {
            expr.call().args().forEach(operand -> collect(operand, operator, into));
        } else {
            into.add(bool(expr));
        }
    }

    private Bool comparison(Operator operator, CelExpr left, CelExpr right) {
        CelKind a = kind(left);
        CelKind b = kind(right);
        if (a == CelKind.INT && b == CelKind.INT) {
            return Comparisons.whole(operator, whole(left), topNumber(left), whole(right), constant(right));
        }
        if (a == CelKind.DOUBLE && b == CelKind.DOUBLE) {
            return Comparisons.floating(operator, floating(left), floating(right));
        }
        if (isNumber(a) && isNumber(b)) {
            return mixed(operator, left, right);
        }
        if (a != b) {
            throw new Uncovered();
        }
        return switch (a) {
            case BOOL -> {
                Bool x = bool(left);
                Bool y = bool(right);
                yield Comparisons.order(operator, record -> Boolean.compare(x.test(record), y.test(record)));
            }
            case STRING, BYTES -> texts(operator, left, right);
            default -> throw new Uncovered();
        };
    }

    private static boolean isNumber(CelKind kind) {
        return kind == CelKind.INT || kind == CelKind.UINT || kind == CelKind.DOUBLE;
    }

    private @Nullable Accessor topNumber(CelExpr expr) {
        boolean refers = expr.getKind() == ExprKind.Kind.IDENT || expr.getKind() == ExprKind.Kind.SELECT;
        Reference reference = refers ? reference(expr) : null;
        return reference != null && reference.isTop() ? reference.accessor() : null;
    }

    private static @Nullable Long constant(CelExpr expr) {
        return expr.getKind() == ExprKind.Kind.CONSTANT ? (Long) expr.constant().int64Value() : null;
    }

    private Bool mixed(Operator operator, CelExpr left, CelExpr right) {
        CelKind a = kind(left);
        CelKind b = kind(right);
        if (a == CelKind.DOUBLE) {
            return mixed(Comparisons.mirrored(operator), right, left);
        }
        Whole x = whole(left);
        if (b == CelKind.DOUBLE) {
            Floating y = floating(right);
            boolean signed = a == CelKind.INT;
            return Comparisons.order(operator, record -> {
                long whole = x.get(record);
                double other = y.get(record);
                if (Double.isNaN(other)) {
                    return Comparisons.UNORDERED;
                }
                return signed ? Numbers.compareIntDouble(whole, other) : Numbers.compareUintDouble(whole, other);
            });
        }
        Whole y = whole(right);
        LongBinaryOperator order = a == b
                ? Long::compareUnsigned
                : a == CelKind.INT
                        ? Numbers::compareIntUint
                        : (unsigned, signed) -> -Numbers.compareIntUint(signed, unsigned);
        return Comparisons.order(operator, record -> (int) order.applyAsLong(x.get(record), y.get(record)));
    }

    private Bool texts(Operator operator, CelExpr left, CelExpr right) {
        Text a = text(left);
        Text b = text(right);
        TextView x = new TextView();
        TextView y = new TextView();
        if (operator == Operator.EQUALS || operator == Operator.NOT_EQUALS) {
            boolean equal = operator == Operator.EQUALS;
            return record -> {
                a.get(record, x);
                b.get(record, y);
                return x.equalTo(y) == equal;
            };
        }
        return Comparisons.order(operator, record -> {
            a.get(record, x);
            b.get(record, y);
            return x.compare(y);
        });
    }

    private Bool textCall(CelCall call) {
        CelExpr target = call.target().orElse(null);
        if (target == null || call.args().size() != 1 || kind(target) != CelKind.STRING) {
            throw new Uncovered();
        }
        Text whole = text(target);
        if (call.function().equals("matches")) {
            return matches(whole, call.args().get(0));
        }
        Text part = text(call.args().get(0));
        TextView x = new TextView();
        TextView y = new TextView();
        BiPredicate<TextView, TextView> of = switch (call.function()) {
            case "startsWith" -> (text, start) -> text.has(start, 0);
            case "endsWith" -> (text, end) -> text.has(end, text.length() - end.length());
            case "contains" -> TextView::contains;
            default -> throw new Uncovered();
        };
        return record -> {
            whole.get(record, x);
            part.get(record, y);
            return of.test(x, y);
        };
    }

    /** Matching makes a copy of the text. */
    private Bool matches(Text whole, CelExpr pattern) {
        Pattern compiled = RegularExpression.compile(pattern.constant().stringValue());
        TextView text = new TextView();
        return record -> {
            whole.get(record, text);
            return compiled.matcher(text.toString()).find();
        };
    }

    private Bool membership(CelExpr value, CelExpr list) {
        CelKind kind = kind(value);
        Sought sought = new Sought();
        Consumer<RecordView> look = look(value, kind, sought);
        if (list.getKind() != ExprKind.Kind.LIST) {
            Reference array = reference(list);
            if (!array.isList()) {
                throw new Uncovered();
            }
            Cell cell = new Cell();
            Reference element = new Reference(cell, null, array.accessor().element());
            Bool isIt = switch (kind) {
                case INT, UINT -> sought.isWhole(element::whole);
                case DOUBLE -> sought.isFloating(element::floating);
                case STRING -> sought.isText(element::text);
                default -> throw new Uncovered();
            };
            return record -> {
                look.accept(record);
                int count = array.count(record);
                for (int i = 0; i < count; i++) {
                    cell.at = array.elementAt(record, i);
                    if (isIt.test(record)) {
                        return true;
                    }
                }
                return false;
            };
        }
        List<CelExpr> elements = list.list().elements();
        if (!list.list().optionalIndices().isEmpty() || elements.stream().anyMatch(e -> kind(e) != kind)) {
            throw new Uncovered();
        }
        Bool[] all = elements.stream()
                .map(each -> switch (kind) {
                    case INT, UINT -> sought.isWhole(whole(each));
                    case DOUBLE -> sought.isFloating(floating(each));
                    default -> sought.isText(text(each));
                })
                .toArray(Bool[]::new);
        return record -> {
            look.accept(record);
            // All elements have their value before the list has: one that fails makes it fail.
            boolean found = false;
            for (Bool isIt : all) {
                found |= isIt.test(record);
            }
            return found;
        };
    }

    private Consumer<RecordView> look(CelExpr value, CelKind kind, Sought sought) {
        switch (kind) {
            case INT, UINT -> {
                Whole of = whole(value);
                return record -> sought.whole = of.get(record);
            }
            case DOUBLE -> {
                Floating of = floating(value);
                return record -> sought.floating = of.get(record);
            }
            default -> {
                Text of = text(value);
                return record -> of.get(record, sought.text);
            }
        }
    }

    /** Compiles what the macros {@code exists} and {@code all} over an array become. */
    private Bool quantifier(CelComprehension loop) {
        CelExpr step = loop.loopStep();
        CelExpr begin = loop.accuInit();
        CelExpr result = loop.result();
        boolean plain = loop.iterVar2().isEmpty()
                && begin.getKind() == ExprKind.Kind.CONSTANT
                && begin.constant().getKind() == CelConstant.Kind.BOOLEAN_VALUE
                && isVariable(result, loop.accuVar())
                && step.getKind() == ExprKind.Kind.CALL
                && step.call().args().size() == 2
                && isVariable(step.call().args().get(0), loop.accuVar());
        boolean decides = plain && !begin.constant().booleanValue();
        Operator operator = decides ? Operator.LOGICAL_OR : Operator.LOGICAL_AND;
        if (!plain || !step.call().function().equals(operator.getFunction())) {
            throw new Uncovered();
        }
        Reference array = reference(loop.iterRange());
        if (!array.isList()) {
            throw new Uncovered();
        }
        Cell cell = new Cell();
        Reference before = variables.put(
                loop.iterVar(), new Reference(cell, null, array.accessor().element()));
        Bool predicate = bool(step.call().args().get(1));
        if (before == null) {
            variables.remove(loop.iterVar());
        } else {
            variables.put(loop.iterVar(), before);
        }
        return record -> {
            EvaluationException failed = null;
            int count = array.count(record);
            for (int i = 0; i < count; i++) {
                loops.spend();
                cell.at = array.elementAt(record, i);
                try {
                    if (predicate.test(record) == decides) {
                        return decides;
                    }
                } catch (EvaluationException e) {
                    failed = failed == null ? e : failed;
                }
            }
            if (failed != null) {
                throw failed;
            }
            return !decides;
        };
    }

    private static boolean isVariable(CelExpr expr, String name) {
        return expr.getKind() == ExprKind.Kind.IDENT && expr.ident().name().equals(name);
    }

    /** Compiles a number of 64 bits, signed or unsigned. */
    Whole whole(CelExpr expr) {
        CelKind kind = kind(expr);
        if (kind != CelKind.INT && kind != CelKind.UINT) {
            throw new Uncovered();
        }
        boolean signed = kind == CelKind.INT;
        switch (expr.getKind()) {
            case CONSTANT -> {
                CelConstant constant = expr.constant();
                long value =
                        signed ? constant.int64Value() : constant.uint64Value().longValue();
                return record -> value;
            }
            case CALL -> {
                return wholeCall(expr.call(), signed);
            }
            default -> {
                Reference field = reference(expr);
                Accessor accessor = field.accessor();
                return field.isTop() ? accessor::getLong : field::whole;
            }
        }
    }

    private Whole wholeCall(CelCall call, boolean signed) {
        if (isIndex(call)) {
            return element(call)::whole;
        }
        List<CelExpr> arguments = call.args();
        Operator operator = Operator.findReverse(call.function()).orElse(null);
        if (operator == Operator.CONDITIONAL) {
            Bool condition = bool(arguments.get(0));
            Whole yes = whole(arguments.get(1));
            Whole no = whole(arguments.get(2));
            return record -> condition.test(record) ? yes.get(record) : no.get(record);
        }
        if (operator == Operator.NEGATE) {
            Whole of = whole(arguments.get(0));
            return record -> Numbers.negate(of.get(record));
        }
        if (operator != null) {
            Whole a = whole(arguments.get(0));
            Whole b = whole(arguments.get(1));
            LongBinaryOperator of = switch (operator) {
                case ADD -> signed ? Numbers::add : Numbers::addUnsigned;
                case SUBTRACT -> signed ? Numbers::subtract : Numbers::subtractUnsigned;
                case MULTIPLY -> signed ? Numbers::multiply : Numbers::multiplyUnsigned;
                case DIVIDE -> signed ? Numbers::divide : Numbers::divideUnsigned;
                case MODULO -> signed ? Numbers::remainder : Numbers::remainderUnsigned;
                default -> throw new Uncovered();
            };
            return record -> of.applyAsLong(a.get(record), b.get(record));
        }
        return switch (call.function()) {
            case "size" -> size(call.target().orElseGet(() -> arguments.get(0)));
            case "int", "uint" -> toWhole(arguments.get(0), signed);
            default -> throw new Uncovered();
        };
    }

    private Whole size(CelExpr of) {
        switch (kind(of)) {
            case STRING, BYTES -> {
                boolean points = kind(of) == CelKind.STRING;
                Text text = text(of);
                TextView view = new TextView();
                return record -> {
                    text.get(record, view);
                    return points ? view.codePoints() : view.length();
                };
            }
            case LIST -> {
                Reference array = reference(of);
                if (!array.isList()) {
                    throw new Uncovered();
                }
                return array::count;
            }
            default -> throw new Uncovered();
        }
    }

    private Whole toWhole(CelExpr of, boolean signed) {
        switch (kind(of)) {
            case INT, UINT -> {
                Whole whole = whole(of);
                boolean same = signed == (kind(of) == CelKind.INT);
                return same ? whole : record -> Numbers.otherSign(whole.get(record));
            }
            case DOUBLE -> {
                Floating floating = floating(of);
                return signed
                        ? record -> Numbers.toInt(floating.get(record))
                        : record -> Numbers.toUint(floating.get(record));
            }
            case STRING -> {
                Text text = text(of);
                TextView view = new TextView();
                return record -> {
                    text.get(record, view);
                    return Numbers.parse(view, signed);
                };
            }
            default -> throw new Uncovered();
        }
    }

    Floating floating(CelExpr expr) {
        if (kind(expr) != CelKind.DOUBLE) {
            throw new Uncovered();
        }
        switch (expr.getKind()) {
            case CONSTANT -> {
                double value = expr.constant().doubleValue();
                return record -> value;
            }
            case CALL -> {
                return floatingCall(expr.call());
            }
            default -> {
                Reference field = reference(expr);
                Accessor accessor = field.accessor();
                return field.isTop() ? accessor::getDouble : field::floating;
            }
        }
    }

    private Floating floatingCall(CelCall call) {
        if (isIndex(call)) {
            return element(call)::floating;
        }
        List<CelExpr> arguments = call.args();
        Operator operator = Operator.findReverse(call.function()).orElse(null);
        if (operator == Operator.CONDITIONAL) {
            Bool condition = bool(arguments.get(0));
            Floating yes = floating(arguments.get(1));
            Floating no = floating(arguments.get(2));
            return record -> condition.test(record) ? yes.get(record) : no.get(record);
        }
        if (operator == Operator.NEGATE) {
            Floating of = floating(arguments.get(0));
            return record -> -of.get(record);
        }
        if (operator != null) {
            Floating a = floating(arguments.get(0));
            Floating b = floating(arguments.get(1));
            return switch (operator) {
                case ADD -> record -> a.get(record) + b.get(record);
                case SUBTRACT -> record -> a.get(record) - b.get(record);
                case MULTIPLY -> record -> a.get(record) * b.get(record);
                case DIVIDE -> record -> a.get(record) / b.get(record);
                default -> throw new Uncovered();
            };
        }
        if (!call.function().equals("double")) {
            throw new Uncovered();
        }
        CelExpr of = arguments.get(0);
        return switch (kind(of)) {
            case DOUBLE -> floating(of);
            case INT -> {
                Whole whole = whole(of);
                yield whole::get;
            }
            case UINT -> {
                Whole whole = whole(of);
                yield record -> Numbers.unsignedToDouble(whole.get(record));
            }
            default -> throw new Uncovered();
        };
    }

    /** Compiles a string or bytes. */
    Text text(CelExpr expr) {
        CelKind kind = kind(expr);
        if (kind != CelKind.STRING && kind != CelKind.BYTES) {
            throw new Uncovered();
        }
        switch (expr.getKind()) {
            case CONSTANT -> {
                byte[] bytes = kind == CelKind.STRING
                        ? expr.constant().stringValue().getBytes(StandardCharsets.UTF_8)
                        : expr.constant().bytesValue().toByteArray();
                ByteBuffer constant = ByteBuffer.wrap(bytes);
                return (record, into) -> into.set(constant, 0, bytes.length);
            }
            case CALL -> {
                return textOf(expr.call());
            }
            default -> {
                return reference(expr)::text;
            }
        }
    }

    private Text textOf(CelCall call) {
        if (isIndex(call)) {
            return element(call)::text;
        }
        List<CelExpr> arguments = call.args();
        Operator operator = Operator.findReverse(call.function()).orElse(null);
        if (operator == Operator.CONDITIONAL) {
            Bool condition = bool(arguments.get(0));
            Text yes = text(arguments.get(1));
            Text no = text(arguments.get(2));
            return (record, into) -> (condition.test(record) ? yes : no).get(record, into);
        }
        if (operator == Operator.ADD) {
            return new MadeText.Joined(text(arguments.get(0)), text(arguments.get(1)));
        }
        if (operator != null || arguments.size() != 1) {
            throw new Uncovered();
        }
        CelExpr of = arguments.get(0);
        CelKind kind = kind(of);
        if (call.function().equals("string") && kind == CelKind.INT) {
            return new MadeText.Digits(whole(of));
        }
        boolean same = call.function().equals("bytes") && (kind == CelKind.STRING || kind == CelKind.BYTES)
                || call.function().equals("string") && kind == CelKind.STRING;
        if (!same) {
            throw new Uncovered();
        }
        return text(of);
    }

    private static boolean isIndex(CelCall call) {
        return call.function().equals(Operator.INDEX.getFunction());
    }

    private Reference element(CelCall call) {
        CelExpr of = call.args().get(0);
        if (kind(of) != CelKind.LIST || kind(call.args().get(1)) != CelKind.INT) {
            throw new Uncovered();
        }
        Reference array = reference(of);
        if (!array.isList()) {
            throw new Uncovered();
        }
        Whole index = whole(call.args().get(1));
        return new Reference(
                record -> array.elementAt(record, index.get(record)),
                null,
                array.accessor().element());
    }

    /** Resolves a field, an element, a variable of a loop. */
    private Reference reference(CelExpr expr) {
        switch (expr.getKind()) {
            case IDENT -> {
                String name = expr.ident().name();
                Reference variable = variables.get(name);
                if (variable != null) {
                    return variable;
                }
                return at(null, types.format().top(), name);
            }
            case SELECT -> {
                if (expr.select().testOnly()) {
                    throw new Uncovered();
                }
                return field(expr.select().operand(), expr.select().field());
            }
            case CALL -> {
                if (isIndex(expr.call())) {
                    return element(expr.call());
                }
                throw new Uncovered();
            }
            default -> throw new Uncovered();
        }
    }

    private Reference field(CelExpr of, String name) {
        if (isRecord(of)) {
            return at(null, types.format().top(), name);
        }
        Reference owner = reference(of);
        Structure structure = owner.accessor().type().structure();
        if (structure == null || !owner.isStructure()) {
            throw new Uncovered();
        }
        Structure base = owner.base();
        Field field = types.fields(structure).get(name);
        if (base != null
                && field != null
                && isPlain(field.name())
                && isPlain(owner.accessor().path())) {
            return new Reference(
                    owner.from(),
                    base,
                    types.format().accessor(base, owner.accessor().path() + "." + field.name()));
        }
        return at(owner::structureAt, structure, name);
    }

    private static boolean isPlain(String path) {
        return path.matches("[A-Za-z0-9_.]+");
    }

    private boolean isRecord(CelExpr expr) {
        if (expr.getKind() != ExprKind.Kind.IDENT
                || variables.containsKey(expr.ident().name())) {
            return false;
        }
        String name = expr.ident().name();
        return name.equals(RecordTypes.RECORD) || name.equals(types.recordName());
    }

    private Reference at(@Nullable Place from, Structure structure, String name) {
        Field field = types.fields(structure).get(name);
        if (field == null) {
            throw new Uncovered();
        }
        return new Reference(from, structure, types.format().accessor(structure, field.name()));
    }
}
