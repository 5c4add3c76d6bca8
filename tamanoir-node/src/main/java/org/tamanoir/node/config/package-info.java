/** The settings of a node: its file, the command line over it, and what results. */
@NullMarked
package org.tamanoir.node.config;

import org.jspecify.annotations.NullMarked;
