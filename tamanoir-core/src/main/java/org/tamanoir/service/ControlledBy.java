package org.tamanoir.service;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** Names the control of a service: {@link ServiceControl}. */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.TYPE)
public @interface ControlledBy {
    /** The class of the control, with a public constructor of no arguments. */
    Class<? extends ServiceControl> value();
}
