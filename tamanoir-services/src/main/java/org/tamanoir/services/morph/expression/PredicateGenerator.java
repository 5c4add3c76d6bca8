package org.tamanoir.services.morph.expression;

import dev.cel.common.CelAbstractSyntaxTree;
import dev.cel.common.Operator;
import dev.cel.common.ast.CelExpr;
import dev.cel.common.ast.CelExpr.ExprKind;
import dev.cel.common.types.CelKind;
import dev.cel.common.types.SimpleType;
import java.lang.invoke.MethodHandles;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;
import org.tamanoir.format.Field;
import org.tamanoir.format.FloatFormat;
import org.tamanoir.format.Kind;
import org.tamanoir.format.Layout;
import org.tamanoir.format.RecordView;
import org.tamanoir.format.Structure;
import org.tamanoir.services.morph.expression.Closures.Bool;

/**
 * Compiles a predicate for one format into a hidden class: comparisons of numbers in the record's base have offset, width
 * and byte order as constants; all else calls the closure that it would be without, which the JIT compiler can inline, as
 * it is a constant of the class.
 *
 * <p>Thread contract: one thread.
 */
final class PredicateGenerator {
    private static final String PACKAGE = "org/tamanoir/services/morph/expression/";
    private static final String HELPER = PACKAGE + "FixedFields";
    private static final String BOOL = Type.getInternalName(Bool.class);
    private static final String RECORD = Type.getInternalName(RecordView.class);
    private static final String NAME = PACKAGE + "Predicate";
    private static final Set<Operator> COMPARISONS = EnumSet.of(
            Operator.EQUALS,
            Operator.NOT_EQUALS,
            Operator.LESS,
            Operator.LESS_EQUALS,
            Operator.GREATER,
            Operator.GREATER_EQUALS);
    /** Beyond, the method may have more than the 8,000 bytes that the JIT compiler takes at most. */
    private static final int PARTS = 200;

    private static final int MEMORY = 2;
    private static final int BASE = 3;

    private final CelAbstractSyntaxTree tree;
    private final RecordTypes types;
    private final ClosureCompiler closures;
    /** The format, then the closures. */
    private final List<Object> constants = new ArrayList<>();

    private final MethodVisitor code;
    private final ClassWriter type = new ClassWriter(ClassWriter.COMPUTE_MAXS | ClassWriter.COMPUTE_FRAMES);
    private int inlined;

    private PredicateGenerator(Checked checked, ClosureCompiler closures) {
        tree = checked.tree();
        types = checked.types();
        this.closures = closures;
        constants.add(types.format());
        type.visit(Opcodes.V17, Opcodes.ACC_FINAL, NAME, null, "java/lang/Object", new String[] {BOOL});
        code = type.visitMethod(Opcodes.ACC_PUBLIC, "test", "(L" + RECORD + ";)Z", null, null);
    }

    /** Returns the predicate; null if no comparison of it gains, or there are too many. */
    static @Nullable Bool generate(Checked checked, ClosureCompiler closures) {
        return new PredicateGenerator(checked, closures).generate(checked.tree().getExpr());
    }

    private @Nullable Bool generate(CelExpr expr) {
        code.visitCode();
        code.visitVarInsn(Opcodes.ALOAD, 1);
        constant(0, "java/lang/Object");
        call("memory", "(L" + RECORD + ";Ljava/lang/Object;)Ljava/nio/ByteBuffer;");
        code.visitVarInsn(Opcodes.ASTORE, MEMORY);
        code.visitVarInsn(Opcodes.ALOAD, 1);
        code.visitMethodInsn(Opcodes.INVOKEVIRTUAL, RECORD, "base", "()I", false);
        code.visitVarInsn(Opcodes.ISTORE, BASE);
        Label no = new Label();
        jump(expr, no, false);
        code.visitInsn(Opcodes.ICONST_1);
        code.visitInsn(Opcodes.IRETURN);
        code.visitLabel(no);
        code.visitInsn(Opcodes.ICONST_0);
        code.visitInsn(Opcodes.IRETURN);
        code.visitMaxs(0, 0);
        code.visitEnd();
        return inlined == 0 || inlined + constants.size() > PARTS ? null : define();
    }

    /** Jumps where the truth of the expression is {@code when}. */
    private void jump(CelExpr expr, Label to, boolean when) {
        Operator operator = operator(expr);
        if (operator == Operator.LOGICAL_NOT) {
            jump(expr.call().args().get(0), to, !when);
        } else if ((operator == Operator.LOGICAL_AND || operator == Operator.LOGICAL_OR) && !mayFail(expr)) {
            CelExpr left = expr.call().args().get(0);
            CelExpr right = expr.call().args().get(1);
            if (when == (operator == Operator.LOGICAL_OR)) {
                jump(left, to, when);
                jump(right, to, when);
            } else {
                Label past = new Label();
                jump(left, past, !when);
                jump(right, to, when);
                code.visitLabel(past);
            }
        } else if (operator != null
                && COMPARISONS.contains(operator)
                && isSimple(expr.call().args())) {
            comparison(operator, expr.call().args(), to, when);
        } else {
            closure(expr, to, when);
        }
    }

    private static @Nullable Operator operator(CelExpr expr) {
        return expr.getKind() == ExprKind.Kind.CALL
                ? Operator.findReverse(expr.call().function()).orElse(null)
                : null;
    }

    private CelKind kind(CelExpr expr) {
        return tree.getType(expr.id()).orElse(SimpleType.DYN).kind();
    }

    private boolean isSimple(List<CelExpr> operands) {
        CelKind kind = kind(operands.get(0));
        return (kind == CelKind.INT || kind == CelKind.DOUBLE)
                && operands.stream().allMatch(operand -> kind(operand) == kind && isSimple(operand));
    }

    private boolean isSimple(CelExpr operand) {
        return operand.getKind() == ExprKind.Kind.CONSTANT || place(operand) != null;
    }

    private void comparison(Operator operator, List<CelExpr> operands, Label to, boolean when) {
        inlined++;
        operands.forEach(this::value);
        if (kind(operands.get(0)) == CelKind.INT) {
            code.visitInsn(Opcodes.LCMP);
        } else {
            // NaN makes what is less false as well as what is greater.
            boolean less = operator == Operator.LESS || operator == Operator.LESS_EQUALS;
            code.visitInsn(less ? Opcodes.DCMPG : Opcodes.DCMPL);
        }
        int opcode = switch (operator) {
            case EQUALS -> when ? Opcodes.IFEQ : Opcodes.IFNE;
            case NOT_EQUALS -> when ? Opcodes.IFNE : Opcodes.IFEQ;
            case LESS -> when ? Opcodes.IFLT : Opcodes.IFGE;
            case LESS_EQUALS -> when ? Opcodes.IFLE : Opcodes.IFGT;
            case GREATER -> when ? Opcodes.IFGT : Opcodes.IFLE;
            default -> when ? Opcodes.IFGE : Opcodes.IFLT;
        };
        code.visitJumpInsn(opcode, to);
    }

    private void value(CelExpr operand) {
        if (operand.getKind() == ExprKind.Kind.CONSTANT) {
            code.visitLdcInsn(
                    kind(operand) == CelKind.INT
                            ? (Object) operand.constant().int64Value()
                            : (Object) operand.constant().doubleValue());
            return;
        }
        Place place = place(operand);
        if (place == null) {
            throw new IllegalStateException("operand without a place");
        }
        Field field = place.field;
        code.visitVarInsn(Opcodes.ALOAD, MEMORY);
        code.visitVarInsn(Opcodes.ILOAD, BASE);
        code.visitLdcInsn(place.offset);
        code.visitInsn(Opcodes.IADD);
        call((place.big ? "big" : "little") + field.size(), "(Ljava/nio/ByteBuffer;I)J");
        if (field.type().kind() == Kind.FLOAT) {
            if (field.size() == 4) {
                call("float4", "(J)D");
            } else {
                code.visitMethodInsn(Opcodes.INVOKESTATIC, "java/lang/Double", "longBitsToDouble", "(J)D", false);
            }
        } else if (field.type().kind() != Kind.INTEGER && field.size() < Long.BYTES) {
            code.visitLdcInsn((1L << 8 * field.size()) - 1);
            code.visitInsn(Opcodes.LAND);
        }
    }

    /** A number that has the same place in all records. */
    private record Place(Field field, int offset, boolean big) {}

    private @Nullable Place place(CelExpr expr) {
        Layout layout = types.format().layout();
        if (expr.getKind() == ExprKind.Kind.IDENT) {
            return place(types.format().top(), expr.ident().name(), 0, layout);
        }
        if (expr.getKind() != ExprKind.Kind.SELECT || expr.select().testOnly()) {
            return null;
        }
        CelExpr of = expr.select().operand();
        if (of.getKind() == ExprKind.Kind.IDENT && of.ident().name().equals(types.recordName())) {
            return place(types.format().top(), expr.select().field(), 0, layout);
        }
        Place owner = place(of);
        Structure structure = owner == null ? null : owner.field.type().structure();
        return owner == null || structure == null
                ? null
                : place(structure, expr.select().field(), owner.offset, layout);
    }

    private @Nullable Place place(Structure structure, String name, int offset, Layout layout) {
        Field field = types.fields(structure).get(name);
        if (field == null || !field.type().isLeaf() || field.type().kind() == Kind.STRING) {
            return null;
        }
        boolean floating = field.type().kind() == Kind.FLOAT;
        if (floating && layout.floats() == FloatFormat.MIXED) {
            return null;
        }
        boolean writers = !floating || layout.floats() == FloatFormat.BY_ORDER;
        boolean big = writers ? layout.order() == ByteOrder.BIG_ENDIAN : layout.floats() == FloatFormat.BIG;
        return new Place(field, offset + field.offset(), big);
    }

    /** Returns whether an evaluation may throw, so that what stands beside it in a conjunction has to be asked too. */
    private boolean mayFail(CelExpr expr) {
        switch (expr.getKind()) {
            case CONSTANT, IDENT -> {
                return false;
            }
            case SELECT -> {
                return mayFail(expr.select().operand());
            }
            case LIST -> {
                return expr.list().elements().stream().anyMatch(this::mayFail);
            }
            case CALL -> {
                Operator operator = operator(expr);
                boolean safe = operator == null
                        ? List.of("startsWith", "endsWith", "contains", "matches", "size")
                                .contains(expr.call().function())
                        : COMPARISONS.contains(operator)
                                || operator == Operator.LOGICAL_AND
                                || operator == Operator.LOGICAL_OR
                                || operator == Operator.LOGICAL_NOT
                                || operator == Operator.IN
                                || operator != Operator.INDEX && kind(expr) == CelKind.DOUBLE;
                return !safe
                        || expr.call().args().stream().anyMatch(this::mayFail)
                        || expr.call().target().filter(this::mayFail).isPresent();
            }
            default -> {
                return true;
            }
        }
    }

    private void closure(CelExpr expr, Label to, boolean when) {
        constants.add(closures.bool(expr));
        constant(constants.size() - 1, BOOL);
        code.visitVarInsn(Opcodes.ALOAD, 1);
        code.visitMethodInsn(Opcodes.INVOKEINTERFACE, BOOL, "test", "(L" + RECORD + ";)Z", true);
        code.visitJumpInsn(when ? Opcodes.IFNE : Opcodes.IFEQ, to);
    }

    private void constant(int index, String of) {
        code.visitFieldInsn(Opcodes.GETSTATIC, NAME, "c" + index, "L" + of + ";");
    }

    private void call(String helper, String signature) {
        code.visitMethodInsn(Opcodes.INVOKESTATIC, HELPER, helper, signature, false);
    }

    private Bool define() {
        MethodVisitor begin = type.visitMethod(Opcodes.ACC_STATIC, "<clinit>", "()V", null, null);
        begin.visitCode();
        for (int i = 0; i < constants.size(); i++) {
            String of = i == 0 ? "java/lang/Object" : BOOL;
            type.visitField(Opcodes.ACC_STATIC | Opcodes.ACC_FINAL, "c" + i, "L" + of + ";", null, null);
            begin.visitMethodInsn(
                    Opcodes.INVOKESTATIC,
                    "java/lang/invoke/MethodHandles",
                    "lookup",
                    "()Ljava/lang/invoke/MethodHandles$Lookup;",
                    false);
            begin.visitLdcInsn("_");
            begin.visitLdcInsn(Type.getObjectType(of));
            begin.visitLdcInsn(i);
            begin.visitMethodInsn(
                    Opcodes.INVOKESTATIC,
                    "java/lang/invoke/MethodHandles",
                    "classDataAt",
                    "(Ljava/lang/invoke/MethodHandles$Lookup;Ljava/lang/String;Ljava/lang/Class;I)Ljava/lang/Object;",
                    false);
            begin.visitTypeInsn(Opcodes.CHECKCAST, of);
            begin.visitFieldInsn(Opcodes.PUTSTATIC, NAME, "c" + i, "L" + of + ";");
        }
        begin.visitInsn(Opcodes.RETURN);
        begin.visitMaxs(0, 0);
        begin.visitEnd();
        MethodVisitor make = type.visitMethod(0, "<init>", "()V", null, null);
        make.visitCode();
        make.visitVarInsn(Opcodes.ALOAD, 0);
        make.visitMethodInsn(Opcodes.INVOKESPECIAL, "java/lang/Object", "<init>", "()V", false);
        make.visitInsn(Opcodes.RETURN);
        make.visitMaxs(0, 0);
        make.visitEnd();
        type.visitEnd();
        try {
            MethodHandles.Lookup hidden = MethodHandles.lookup()
                    .defineHiddenClassWithClassData(type.toByteArray(), List.copyOf(constants), true);
            return (Bool) hidden.lookupClass().getDeclaredConstructor().newInstance();
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("a predicate was generated that cannot be made", e);
        }
    }
}
