/** Looking at files of records, and converting them. */
@NullMarked
package org.tamanoir.node.ffs;

import org.jspecify.annotations.NullMarked;
