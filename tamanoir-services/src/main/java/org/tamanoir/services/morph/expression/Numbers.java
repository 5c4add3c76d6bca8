package org.tamanoir.services.morph.expression;

/** CEL's arithmetic of 64 bits: what does not fit is an error. All of it returns numbers or throws without allocating. */
final class Numbers {
    private static final double TWO_63 = 0x1p63;

    private Numbers() {}

    static long add(long a, long b) {
        long sum = a + b;
        if (((a ^ sum) & (b ^ sum)) < 0) {
            throw EvaluationException.OVERFLOW;
        }
        return sum;
    }

    static long subtract(long a, long b) {
        long difference = a - b;
        if (((a ^ b) & (a ^ difference)) < 0) {
            throw EvaluationException.OVERFLOW;
        }
        return difference;
    }

    static long multiply(long a, long b) {
        long product = a * b;
        if (Math.multiplyHigh(a, b) != product >> 63) {
            throw EvaluationException.OVERFLOW;
        }
        return product;
    }

    static long divide(long a, long b) {
        if (b == 0) {
            throw EvaluationException.DIVISION;
        }
        if (a == Long.MIN_VALUE && b == -1) {
            throw EvaluationException.OVERFLOW;
        }
        return a / b;
    }

    static long remainder(long a, long b) {
        if (b == 0) {
            throw EvaluationException.DIVISION;
        }
        return a % b;
    }

    static long negate(long a) {
        if (a == Long.MIN_VALUE) {
            throw EvaluationException.OVERFLOW;
        }
        return -a;
    }

    static long addUnsigned(long a, long b) {
        long sum = a + b;
        if (Long.compareUnsigned(sum, a) < 0) {
            throw EvaluationException.OVERFLOW;
        }
        return sum;
    }

    static long subtractUnsigned(long a, long b) {
        if (Long.compareUnsigned(a, b) < 0) {
            throw EvaluationException.OVERFLOW;
        }
        return a - b;
    }

    static long multiplyUnsigned(long a, long b) {
        long high = Math.multiplyHigh(a, b) + (a >> 63 & b) + (b >> 63 & a);
        if (high != 0) {
            throw EvaluationException.OVERFLOW;
        }
        return a * b;
    }

    static long divideUnsigned(long a, long b) {
        if (b == 0) {
            throw EvaluationException.DIVISION;
        }
        return Long.divideUnsigned(a, b);
    }

    static long remainderUnsigned(long a, long b) {
        if (b == 0) {
            throw EvaluationException.DIVISION;
        }
        return Long.remainderUnsigned(a, b);
    }

    /** Changes between signed and unsigned, either way. */
    static long otherSign(long a) {
        if (a < 0) {
            throw EvaluationException.OVERFLOW;
        }
        return a;
    }

    /** Cuts off the fraction. CEL leaves out -2^63 with 2^63, as both are what numbers beyond them are rounded to. */
    static long toInt(double a) {
        if (Math.getExponent(a) >= 63) {
            throw EvaluationException.OVERFLOW;
        }
        return (long) a;
    }

    static long toUint(double a) {
        if (!(a >= 0) || Math.getExponent(a) >= 64) {
            throw EvaluationException.OVERFLOW;
        }
        return a < TWO_63 ? (long) a : (long) (a - TWO_63) ^ Long.MIN_VALUE;
    }

    /** Returns the nearest double; halved with the last bit kept sticky, so that it is rounded once. */
    static double unsignedToDouble(long bits) {
        return bits >= 0 ? bits : (double) (bits >>> 1 | bits & 1) * 2;
    }

    static int compareIntUint(long a, long b) {
        return a < 0 ? -1 : Long.compareUnsigned(a, b);
    }

    /** Compares the exact values: a double beyond 2^53 is not what a long rounds to. Not for NaN. */
    static int compareIntDouble(long a, double b) {
        if (b >= TWO_63) {
            return -1;
        }
        if (b < -TWO_63) {
            return 1;
        }
        int whole = Long.compare(a, (long) b);
        return whole != 0 ? whole : Double.compare(0, b - (long) b + 0.0);
    }

    /** Compares the exact values. Not for NaN. */
    static int compareUintDouble(long a, double b) {
        if (b >= 0x1p64) {
            return -1;
        }
        if (b < 0) {
            return 1;
        }
        long floor = toUint(b);
        int whole = Long.compareUnsigned(a, floor);
        return whole != 0 ? whole : unsignedToDouble(floor) < b ? -1 : 0;
    }

    /** Returns the number that decimal digits say, with a sign or without. */
    static long parse(TextView text, boolean signed) {
        int i = 0;
        boolean minus = false;
        if (text.length() > 1 && (text.get(0) == '+' || text.get(0) == '-')) {
            minus = text.get(0) == '-';
            i = 1;
        }
        if (i == text.length()) {
            throw EvaluationException.CONVERSION;
        }
        long value = 0;
        for (; i < text.length(); i++) {
            int digit = text.get(i) - '0';
            if (digit < 0 || digit > 9) {
                throw EvaluationException.CONVERSION;
            }
            if (signed) {
                value = subtract(multiply(value, 10), digit);
            } else {
                value = addUnsigned(multiplyUnsigned(value, 10), digit);
            }
        }
        if (!signed && minus && value != 0) {
            throw EvaluationException.OVERFLOW;
        }
        return signed && !minus ? negate(value) : value;
    }
}
