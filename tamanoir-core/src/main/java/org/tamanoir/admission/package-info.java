/** Admission of streams: how many the node and each peer may have. */
@NullMarked
package org.tamanoir.admission;

import org.jspecify.annotations.NullMarked;
