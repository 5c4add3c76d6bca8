/** A cache of objects by key, in the network. */
@NullMarked
package org.tamanoir.services.extra.cache;

import org.jspecify.annotations.NullMarked;
