package org.tamanoir.service;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Repeatable;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Declares a setting that a service reads in {@link Service#init}, on the service's class or on one that {@link
 * Settings#of} names. With one declaration the service takes the declared settings alone: a node refuses others, and
 * values out of bounds, before it runs the service, and shows operators what there is.
 *
 * <pre>{@code
 * @Setting(name = "max-payload", kind = Setting.Kind.NUMBER, min = 0, max = 65_527, standard = "1400", text = "bytes of a payload")
 * }</pre>
 */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.TYPE)
@Repeatable(Settings.class)
public @interface Setting {
    /** What {@link ServiceConfig} reads it by. */
    String name();

    /** What values look like. */
    Kind kind() default Kind.TEXT;

    /** The value without one, as it would be given; empty = none. */
    String standard() default "";

    /** The least number. */
    long min() default Long.MIN_VALUE;

    /** The greatest number. */
    long max() default Long.MAX_VALUE;

    /** The words of {@link Kind#CHOICE}; of other kinds, words that are allowed besides. */
    String[] choices() default {};

    /** What it is for, in one line. */
    String text();

    /** What values look like, as the methods of {@link ServiceConfig} read them. */
    enum Kind {
        /** Any text. */
        TEXT,
        /** {@link ServiceConfig#number}, decimal or with 0x; {@link ServiceConfig#millis}, too. */
        NUMBER,
        /** {@link ServiceConfig#decimal}. */
        DECIMAL,
        /** {@link ServiceConfig#flag}. */
        FLAG,
        /** {@link ServiceConfig#choice}. */
        CHOICE
    }
}
