package org.tamanoir.services.morph.expression;

/**
 * An expression that has no value for a record. There is one object for each reason and it has no stack trace, so that a
 * stream of such records costs no more than others; CEL's {@code &&}, {@code ||}, {@code exists} and {@code all} catch it
 * where the other operand decides.
 */
public final class EvaluationException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** A whole number beyond 64 bits. */
    public static final EvaluationException OVERFLOW = new EvaluationException("expression: overflow");
    /** Also of a remainder. */
    public static final EvaluationException DIVISION = new EvaluationException("expression: division by zero");
    /** An element that the array does not have, a key that is not in a map. */
    public static final EvaluationException INDEX = new EvaluationException("expression: index out of range");
    /** A text that is no number, a number that the other type does not have. */
    public static final EvaluationException CONVERSION = new EvaluationException("expression: conversion");
    /** More than {@link Expression#ITERATIONS}. */
    public static final EvaluationException ITERATIONS = new EvaluationException("expression: too many iterations");
    /** All else that only dev.cel's runtime finds. */
    public static final EvaluationException OTHER = new EvaluationException("expression: failed");

    private EvaluationException(String reason) {
        super(reason, null, false, false);
    }

    /** Returns the reason that drops are counted under. */
    public String reason() {
        return getMessage();
    }

    @Override
    public String getMessage() {
        return String.valueOf(super.getMessage());
    }
}
