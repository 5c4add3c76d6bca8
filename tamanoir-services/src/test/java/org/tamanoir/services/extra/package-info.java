/** Tests of what the services that nodes fetch share. */
@NullMarked
package org.tamanoir.services.extra;

import org.jspecify.annotations.NullMarked;
