/**
 * Threads that hold others to what they promised: the node's own, which must come round, and those of services, which
 * must return, stay below their limits, and be made.
 */
@NullMarked
package org.tamanoir.supervision;

import org.jspecify.annotations.NullMarked;
