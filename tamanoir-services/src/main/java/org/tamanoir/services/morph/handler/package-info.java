/**
 * The kinds of handlers that a plan may name, made from settings. Imports {@code message}, {@code format} and {@code
 * anep}; what evaluates expressions besides {@code expression}.
 */
@NullMarked
package org.tamanoir.services.morph.handler;

import org.jspecify.annotations.NullMarked;
