package org.tamanoir.services.morph.expression;

import com.google.common.primitives.UnsignedLong;
import dev.cel.common.types.CelType;
import dev.cel.common.values.CelByteString;
import dev.cel.common.values.StructValue;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.tamanoir.format.Accessor;
import org.tamanoir.format.Field;
import org.tamanoir.format.FormatException;
import org.tamanoir.format.Kind;
import org.tamanoir.format.RecordView;
import org.tamanoir.format.Structure;
import org.tamanoir.format.Type;

/**
 * Gives dev.cel's runtime the values of a record, as objects, when it asks for them; and makes plain objects of what it
 * gives back.
 *
 * <p>Thread contract: one thread.
 */
final class RecordValues {
    private final RecordTypes types;
    private final Map<Field, Accessor> accessors = new IdentityHashMap<>();
    private int valuesLeft;

    RecordValues(RecordTypes types) {
        this.types = types;
    }

    /** Carries what is wrong with a record past dev.cel, whose operators take any exception for an operand without a value. */
    static final class DamagedError extends Error {
        private static final long serialVersionUID = 1L;

        final FormatException fault;

        DamagedError(FormatException fault) {
            super(null, fault, false, false);
            this.fault = fault;
        }
    }

    /** Returns the value of a variable. */
    Optional<Object> find(RecordView record, String variable) {
        StructureValue top = new StructureValue(record, types.format().top(), 0);
        if (variable.equals(RecordTypes.RECORD) || variable.equals(types.recordName())) {
            return Optional.of(top);
        }
        Field field = types.fields(types.format().top()).get(variable);
        return field == null ? Optional.empty() : Optional.of(top.select(variable));
    }

    /** A structure in a record. */
    @SuppressWarnings("Immutable") // It does not outlive the evaluation, during which the record stays as it is.
    final class StructureValue extends StructValue<String, StructureValue> {
        private final RecordView record;
        private final Structure structure;
        /** -1: behind a null pointer. */
        private final int place;

        StructureValue(RecordView record, Structure structure, int place) {
            this.record = record;
            this.structure = structure;
            this.place = place;
        }

        private Accessor accessor(String name) {
            Field field = types.fields(structure).get(name);
            if (field == null) {
                throw new IllegalArgumentException("structure " + structure + " has no field " + name);
            }
            return accessors.computeIfAbsent(field, f -> types.format().accessor(structure, f.name()));
        }

        @Override
        public Object select(String name) {
            return read(() -> of(record, accessor(name), place));
        }

        @Override
        public Optional<Object> find(String name) {
            boolean isNull = place < 0 || read(() -> accessor(name).isNull(record, place));
            return isNull ? Optional.empty() : Optional.of(select(name));
        }

        private static <T> T read(Supplier<T> field) {
            try {
                return field.get();
            } catch (FormatException e) {
                throw new DamagedError(e);
            }
        }

        @Override
        public StructureValue value() {
            return this;
        }

        @Override
        public boolean isZeroValue() {
            return place < 0;
        }

        @Override
        public CelType celType() {
            return types.of(structure);
        }

        @Override
        public boolean equals(@Nullable Object other) {
            if (!(other instanceof StructureValue that) || structure != that.structure) {
                return false;
            }
            valuesLeft = Expression.ITERATIONS;
            Object mine = plain(this);
            valuesLeft = Expression.ITERATIONS;
            return Operators.equal(mine, plain(that));
        }

        @Override
        public int hashCode() {
            return structure.hashCode();
        }
    }

    private Object of(RecordView record, Accessor accessor, int from) {
        Type type = accessor.type();
        if (type.isArray()) {
            return list(record, accessor, from, 0, 0);
        }
        Structure structure = type.structure();
        if (structure != null) {
            return new StructureValue(record, structure, from < 0 ? -1 : accessor.structureAt(record, from));
        }
        return switch (type.kind()) {
            case STRING -> {
                String text = from < 0 ? null : accessor.getText(record, from);
                yield text == null ? "" : text;
            }
            case FLOAT -> from < 0 ? 0.0 : accessor.getDouble(record, from);
            case BOOLEAN -> from >= 0 && accessor.getLong(record, from) != 0;
            default -> {
                long whole = from < 0 ? 0 : accessor.getLong(record, from);
                yield type.kind() == Kind.UNSIGNED && type.bytes() == 8 ? UnsignedLong.fromLongBits(whole) : whole;
            }
        };
    }

    /** Returns the elements of a dimension of an array, those of all dimensions being numbered in the order of rows. */
    private Object list(RecordView record, Accessor accessor, int from, int dimension, int prefix) {
        Type type = accessor.type();
        boolean last = dimension + 1 == type.dimensions().size();
        int count = from < 0 || accessor.count(record, from) == 0 ? 0 : accessor.count(record, from, dimension);
        if (last && RecordTypes.isBytes(type)) {
            byte[] bytes = new byte[count];
            for (int i = 0; i < count; i++) {
                int at = accessor.elementAt(record, from, prefix * count + i);
                bytes[i] = (byte) accessor.element().getLong(record, at);
            }
            return CelByteString.of(bytes);
        }
        List<Object> list = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            int index = prefix * count + i;
            list.add(
                    last
                            ? of(record, accessor.element(), accessor.elementAt(record, from, index))
                            : list(record, accessor, from, dimension + 1, index));
        }
        return Collections.unmodifiableList(list);
    }

    /** Returns a value as an encoder of records takes it. */
    Object result(Object value) {
        valuesLeft = Expression.ITERATIONS;
        return plain(value);
    }

    private Object plain(Object value) {
        if (--valuesLeft < 0) {
            throw EvaluationException.ITERATIONS;
        }
        if (value instanceof CelByteString bytes) {
            return bytes.toByteArray();
        }
        if (value instanceof UnsignedLong number) {
            BigInteger large = number.bigIntegerValue();
            return large.bitLength() < Long.SIZE ? (Object) large.longValue() : large;
        }
        if (value instanceof StructureValue of) {
            Map<String, @Nullable Object> map = new LinkedHashMap<>();
            types.fields(of.structure)
                    .forEach((name, field) ->
                            map.put(field.name(), of.find(name).map(this::plain).orElse(null)));
            return map;
        }
        if (value instanceof List<?> list) {
            List<Object> all = new ArrayList<>(list.size());
            list.forEach(each -> all.add(plain(each)));
            return all;
        }
        if (value instanceof Map<?, ?> map) {
            Map<Object, Object> all = new LinkedHashMap<>();
            map.forEach((key, each) -> all.put(plain(key), plain(each)));
            return all;
        }
        return value;
    }
}
