/** Tests of what the node is shipped in. They run behind packaging, in the profiles that build it. */
@NullMarked
package org.tamanoir.node.packages;

import org.jspecify.annotations.NullMarked;
