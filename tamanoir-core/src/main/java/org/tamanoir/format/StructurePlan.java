package org.tamanoir.format;

import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;

/** How a structure of a source becomes one of a target: what needs no slot at once, the rest part by part. */
final class StructurePlan {
    final Structure source;
    final Structure target;
    final List<Move> moves = new ArrayList<>();
    final List<Preset> presets = new ArrayList<>();
    /** Strings, pointers, arrays of them, and structures inside. */
    final List<Part> parts = new ArrayList<>();

    StructurePlan(Structure source, Structure target) {
        this.source = source;
        this.target = target;
    }

    /** A default that is written to each. */
    record Preset(Type type, int to, boolean floating, long whole, double number) {
        /**
         * Reads a default.
         *
         * @param text a number in digits, which the field holds as records' values; of a char one byte, none for 0
         * @throws FormatException if it is none, or the field has no number
         */
        static Preset of(Structure owner, Field field, String text) {
            Type type = field.type();
            if (!type.isLeaf() || type.scalar() == null) {
                throw fault(owner, field, "cannot have a default: numbers and chars can");
            }
            if (type.kind() == Kind.CHAR) {
                byte[] bytes = Texts.encode(text);
                if (bytes.length > 1) {
                    throw fault(owner, field, shown(text) + ", which is more than one byte");
                }
                return new Preset(type, field.offset(), false, bytes.length == 0 ? 0 : bytes[0], 0);
            }
            boolean hasMeaning = type.kind() == Kind.FLOAT
                    ? type.bytes() == Float.BYTES || type.bytes() == Double.BYTES
                    : type.bytes() <= Long.BYTES;
            if (!hasMeaning) {
                throw fault(owner, field, "has " + type.bytes() + " bytes, which no default fills");
            }
            Number number = ExactNumbers.parse(text);
            if (number == null) {
                throw fault(owner, field, shown(text) + ", which is no number in digits");
            }
            try {
                if (type.kind() == Kind.FLOAT) {
                    double nearest = ExactNumbers.floating(type, number);
                    // BigInteger has no -0.
                    double signed = nearest == 0 && text.startsWith("-") ? -0.0 : nearest;
                    return new Preset(type, field.offset(), true, 0, signed);
                }
                if (number instanceof BigInteger whole) {
                    return new Preset(type, field.offset(), false, ExactNumbers.whole(type, whole), 0);
                }
            } catch (FormatException e) {
                throw fault(owner, field, shown(text) + ": " + e.getMessage());
            }
            throw fault(owner, field, shown(text) + ", which is no whole number in digits");
        }

        private static String shown(String text) {
            return "has the default '" + Texts.shown(text) + "'";
        }

        private static FormatException fault(Structure owner, Field field, String what) {
            return new FormatException(
                    FormatFault.CONVERSION,
                    "field '" + Texts.shown(field.name()) + "' of '" + Texts.shown(owner.name()) + "' " + what);
        }
    }

    /** A field that is converted step by step. */
    record Part(TypePlan plan, int from, int to) {}

    void add(Move move) {
        int last = moves.size() - 1;
        if (last >= 0 && moves.get(last).isContinuedBy(move)) {
            moves.set(last, moves.get(last).and(move));
        } else {
            moves.add(move);
        }
    }

    /** Returns whether the moves and presets are all. */
    boolean isFlat() {
        return parts.isEmpty();
    }
}
