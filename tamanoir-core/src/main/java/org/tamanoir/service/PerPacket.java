package org.tamanoir.service;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Says of a {@link Service} that its UDP packets may be processed by several instances at the same time, one of each
 * worker of {@code dispatch: packet}: none may rely on seeing all packets, or all of a stream. What instances share
 * (static fields, a control) needs locks of its own.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
public @interface PerPacket {}
