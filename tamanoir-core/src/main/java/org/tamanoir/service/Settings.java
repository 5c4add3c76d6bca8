package org.tamanoir.service;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** Declares several settings of a service, those of classes that read some for it, or, left empty, that it takes none. */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.TYPE)
public @interface Settings {
    /** The settings. */
    Setting[] value() default {};

    /** Classes whose declared settings are the service's, too; those of its superclasses always are. */
    Class<?>[] of() default {};
}
