/** The host's traffic control, which the node changes by rules of its operator while classes are congested. */
@NullMarked
package org.tamanoir.node.tc;

import org.jspecify.annotations.NullMarked;
