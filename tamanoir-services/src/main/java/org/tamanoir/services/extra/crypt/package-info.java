/** Payloads that only the nodes at both ends of a hop can read and change. */
@NullMarked
package org.tamanoir.services.extra.crypt;

import org.jspecify.annotations.NullMarked;
