/**
 * Chains of handlers: a plan, the contexts that it runs in, and what changes it while it runs. Imports {@code message},
 * {@code format}, {@code anep} and {@code service}.
 */
@NullMarked
package org.tamanoir.services.morph;

import org.jspecify.annotations.NullMarked;
