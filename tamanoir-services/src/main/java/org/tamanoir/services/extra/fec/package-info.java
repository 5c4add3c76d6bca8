/** Forward error correction: packets that are lost between two nodes come back from others. */
@NullMarked
package org.tamanoir.services.extra.fec;

import org.jspecify.annotations.NullMarked;
