/** Many small packets of a flow in one. */
@NullMarked
package org.tamanoir.services.extra.aggregate;

import org.jspecify.annotations.NullMarked;
