/**
 * What carries the Fast Circulating Token from unit to unit, and keeps a ring of those that live: {@link
 * org.tamanoir.cluster.element.ring.TokenRing} over UDP, {@link org.tamanoir.cluster.element.ring.MemoryRing} within one
 * JVM, both around the same {@code Keeper}; {@link org.tamanoir.cluster.element.ring.RingWatch} is the distributor's part.
 */
@NullMarked
package org.tamanoir.cluster.element.ring;

import org.jspecify.annotations.NullMarked;
