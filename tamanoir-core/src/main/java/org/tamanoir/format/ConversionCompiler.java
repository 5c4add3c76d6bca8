package org.tamanoir.format;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Compiles the conversion of records of one format into those of another: fields by name, kinds as they are. */
final class ConversionCompiler {
    private final Target target;
    private final boolean acrossKinds;
    private final boolean baseAlone;
    private final Map<String, StructurePlan> plans = new HashMap<>();

    ConversionCompiler(Target target, boolean acrossKinds) {
        this(target, acrossKinds, false);
    }

    private ConversionCompiler(Target target, boolean acrossKinds, boolean baseAlone) {
        this.target = target;
        this.acrossKinds = acrossKinds;
        this.baseAlone = baseAlone;
    }

    /** Makes a compiler that leaves out all that strings and pointers lead to. */
    static ConversionCompiler ofBase(Format format) {
        return new ConversionCompiler(Target.of(format), false, true);
    }

    /** Returns the plan for the top structures and all that they lead to. */
    StructurePlan compile(Format source) {
        return structure(source.top(), target.format().top());
    }

    /** Returns the plan for some fields of the top structures, and all that they lead to. */
    StructurePlan compileFields(Format source, Map<String, String> fields) {
        Structure from = source.top();
        Structure to = target.format().top();
        StructurePlan plan = new StructurePlan(from, to);
        for (Field field : to.fields()) {
            String name = fields.get(field.name());
            if (name == null) {
                continue;
            }
            Field origin = from.field(name);
            String preset = target.defaultOf(to, field);
            if (origin != null) {
                requireCounts(to, field, fields);
                add(plan, origin, field, type(to, field, origin.type(), field.type()));
            } else if (name.isEmpty() && preset != null) {
                plan.presets.add(StructurePlan.Preset.of(to, field, preset));
            } else {
                throw missing(from, to, field);
            }
        }
        return plan;
    }

    /** Checks that what counts an array comes from where the array comes from: counts go by the same name. */
    private static void requireCounts(Structure owner, Field field, Map<String, String> fields) {
        for (Type type = field.type(); ; type = type.target()) {
            for (Dimension dimension : type.dimensions()) {
                Field control = dimension.control();
                if (control != null && !control.name().equals(fields.get(control.name()))) {
                    throw fault(
                            owner,
                            field,
                            "is counted by '" + Texts.shown(control.name()) + "', which is not taken with it");
                }
            }
            if (type.isLeaf()) {
                return;
            }
        }
    }

    private static FormatException missing(Structure from, Structure to, Field field) {
        return fault(to, field, "is missing in format '" + Texts.shown(from.name()) + "' and has no default");
    }

    private StructurePlan structure(Structure from, Structure to) {
        StructurePlan known = plans.get(from.name() + '\0' + to.name());
        if (known != null) {
            return known;
        }
        StructurePlan plan = new StructurePlan(from, to);
        plans.put(from.name() + '\0' + to.name(), plan);
        for (Field field : to.fields()) {
            Field origin = from.field(field.name());
            String preset = target.defaultOf(to, field);
            if (origin != null) {
                add(plan, origin, field, type(to, field, origin.type(), field.type()));
            } else if (preset != null) {
                plan.presets.add(StructurePlan.Preset.of(to, field, preset));
            } else {
                throw missing(from, to, field);
            }
        }
        return plan;
    }

    private void add(StructurePlan plan, Field origin, Field field, TypePlan type) {
        if (baseAlone && leadsOut(type)) {
            return;
        }
        Move move = type.move();
        TypePlan element = type.step() == TypePlan.Step.ARRAY ? type.next() : type;
        boolean rows =
                !plan.source.layout().columnMajor() && !plan.target.layout().columnMajor();
        if (element != null && element != type && element.move() != null && rows) {
            // A fixed array of numbers: those in records are behind pointers.
            Move one = element.move();
            int count = type.sourceBytes() == 0 ? 0 : count(type.sourceDimensions());
            plan.add(Move.of(one.source(), one.target(), origin.offset(), field.offset(), count));
        } else if (move != null) {
            plan.add(Move.of(move.source(), move.target(), origin.offset(), field.offset(), 1));
        } else {
            plan.parts.add(new StructurePlan.Part(type, origin.offset(), field.offset()));
        }
    }

    private static boolean leadsOut(TypePlan type) {
        TypePlan leaf = type;
        while (leaf.step() == TypePlan.Step.ARRAY && leaf.next() != null) {
            leaf = leaf.next();
        }
        return leaf.step() == TypePlan.Step.POINTER || leaf.step() == TypePlan.Step.STRING;
    }

    private static int count(List<Dimension> fixed) {
        return fixed.stream().mapToInt(Dimension::count).reduce(1, (a, b) -> a * b);
    }

    private TypePlan type(Structure owner, Field field, Type from, Type to) {
        if (from.isPointer() || to.isPointer()) {
            if (!from.isPointer() || !to.isPointer()) {
                throw fault(owner, field, "is a pointer or an array by a field on one side alone");
            }
            return TypePlan.pointer(from, to, type(owner, field, from.target(), to.target()));
        }
        if (from.isArray() || to.isArray()) {
            requireDimensions(owner, field, from.dimensions(), to.dimensions());
            Type source = from.isArray() ? from.target() : from;
            Type result = to.isArray() ? to.target() : to;
            TypePlan element = type(owner, field, source, result);
            return new TypePlan(
                    TypePlan.Step.ARRAY,
                    from,
                    to,
                    from.dimensions(),
                    to.dimensions(),
                    source.bytes(),
                    result.bytes(),
                    element,
                    null,
                    null);
        }
        return leaf(owner, field, from, to);
    }

    private static void requireDimensions(Structure owner, Field field, List<Dimension> from, List<Dimension> to) {
        boolean counted = from.stream().anyMatch(d -> d.control() != null);
        boolean alike = counted == to.stream().anyMatch(d -> d.control() != null)
                && (counted ? texts(from).equals(texts(to)) : count(from) == count(to));
        if (!alike) {
            throw fault(owner, field, "has the dimensions " + texts(to) + ", in the source " + texts(from));
        }
    }

    private static List<String> texts(List<Dimension> dimensions) {
        return dimensions.stream().map(ConversionCompiler::text).toList();
    }

    private static String text(Dimension dimension) {
        Field control = dimension.control();
        return control == null ? "" + dimension.count() : control.name();
    }

    private TypePlan leaf(Structure owner, Field field, Type from, Type to) {
        boolean bothNumbers = from.scalar() != null && to.scalar() != null;
        if (from.kind() != to.kind() && !(acrossKinds && bothNumbers)) {
            throw fault(owner, field, "is " + to.kind() + ", in the source " + from.kind());
        }
        if (from.structure() != null && to.structure() != null) {
            if (!from.structure().name().equals(to.structure().name())) {
                throw fault(
                        owner,
                        field,
                        "is of structure '" + Texts.shown(to.structure().name()) + "', in the source of '"
                                + Texts.shown(from.structure().name()) + "'");
            }
            StructurePlan plan = structure(from.structure(), to.structure());
            return TypePlan.leaf(TypePlan.Step.STRUCTURE, from, to, null, plan);
        }
        Scalar source = from.scalar();
        Scalar result = to.scalar();
        if (source == null || result == null) {
            return TypePlan.leaf(TypePlan.Step.STRING, from, to, null, null);
        }
        if ((source.isOpaque() || result.isOpaque()) && source.bytes() != result.bytes()) {
            throw fault(
                    owner,
                    field,
                    "has " + to.bytes() + " bytes, in the source " + from.bytes()
                            + ": such floats are handed on as they are");
        }
        return TypePlan.leaf(TypePlan.Step.NUMBER, from, to, Move.of(source, result, 0, 0, 1), null);
    }

    private static FormatException fault(Structure owner, Field field, String what) {
        return new FormatException(
                FormatFault.CONVERSION,
                "field '" + Texts.shown(field.name()) + "' of '" + Texts.shown(owner.name()) + "' " + what);
    }
}
