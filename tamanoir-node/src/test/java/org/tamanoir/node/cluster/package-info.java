/** The cluster end to end in the virtual machine: namespaces as machines, nodes and directors as processes. */
@NullMarked
package org.tamanoir.node.cluster;

import org.jspecify.annotations.NullMarked;
