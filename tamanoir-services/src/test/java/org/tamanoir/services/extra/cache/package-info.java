/** Tests of the cache. */
@NullMarked
package org.tamanoir.services.extra.cache;

import org.jspecify.annotations.NullMarked;
