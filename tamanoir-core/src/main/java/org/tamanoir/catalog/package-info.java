/** The services that a node has: what each is, how it has behaved, and where it is to be handled. */
@NullMarked
package org.tamanoir.catalog;

import org.jspecify.annotations.NullMarked;
