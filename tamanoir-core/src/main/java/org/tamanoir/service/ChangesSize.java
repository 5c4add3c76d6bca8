package org.tamanoir.service;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** Says of a {@link Service} what it does to the sizes of its traffic. */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.TYPE)
public @interface ChangesSize {
    /** What it does by its nature, whatever its settings. */
    SizeEffect value();
}
