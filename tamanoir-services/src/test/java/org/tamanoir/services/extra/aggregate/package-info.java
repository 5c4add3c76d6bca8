@NullMarked
package org.tamanoir.services.extra.aggregate;

import org.jspecify.annotations.NullMarked;
