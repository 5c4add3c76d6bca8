/** Senders and receivers of ANEP packets, for applications. */
@NullMarked
package org.tamanoir.client;

import org.jspecify.annotations.NullMarked;
