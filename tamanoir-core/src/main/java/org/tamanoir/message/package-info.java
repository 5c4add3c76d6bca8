/**
 * Application messages over packets: records that may take several packets or share one, and the handlers that change
 * them in transit. Imports {@code anep}, {@code format} and {@code service}.
 */
@NullMarked
package org.tamanoir.message;

import org.jspecify.annotations.NullMarked;
