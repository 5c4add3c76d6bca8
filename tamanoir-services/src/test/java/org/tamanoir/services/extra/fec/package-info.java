@NullMarked
package org.tamanoir.services.extra.fec;

import org.jspecify.annotations.NullMarked;
