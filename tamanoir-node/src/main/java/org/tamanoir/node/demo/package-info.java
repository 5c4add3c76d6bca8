/** A run of two nodes, a sender and a receiver in one process. */
@NullMarked
package org.tamanoir.node.demo;

import org.jspecify.annotations.NullMarked;
