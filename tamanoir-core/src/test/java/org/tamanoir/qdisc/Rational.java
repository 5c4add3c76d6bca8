package org.tamanoir.qdisc;

import java.math.BigInteger;

/** An exact fraction, for models that the product's integers are compared with. */
record Rational(BigInteger numerator, BigInteger denominator) implements Comparable<Rational> {
    static final Rational ZERO = of(0);

    static Rational of(long number) {
        return new Rational(BigInteger.valueOf(number), BigInteger.ONE);
    }

    static Rational of(long numerator, long denominator) {
        return of(numerator).dividedBy(of(denominator));
    }

    private static Rational reduced(BigInteger numerator, BigInteger denominator) {
        BigInteger divisor = numerator.gcd(denominator);
        BigInteger signed = denominator.signum() < 0 ? divisor.negate() : divisor;
        return new Rational(numerator.divide(signed), denominator.divide(signed));
    }

    Rational plus(Rational other) {
        return reduced(
                numerator.multiply(other.denominator).add(other.numerator.multiply(denominator)),
                denominator.multiply(other.denominator));
    }

    Rational minus(Rational other) {
        return plus(new Rational(other.numerator.negate(), other.denominator));
    }

    Rational times(Rational other) {
        return reduced(numerator.multiply(other.numerator), denominator.multiply(other.denominator));
    }

    Rational dividedBy(Rational other) {
        return reduced(numerator.multiply(other.denominator), denominator.multiply(other.numerator));
    }

    Rational max(Rational other) {
        return compareTo(other) >= 0 ? this : other;
    }

    Rational min(Rational other) {
        return compareTo(other) <= 0 ? this : other;
    }

    @Override
    public int compareTo(Rational other) {
        return numerator.multiply(other.denominator).compareTo(other.numerator.multiply(denominator));
    }

    @Override
    public String toString() {
        return denominator.equals(BigInteger.ONE) ? numerator.toString() : numerator + "/" + denominator;
    }
}
