/** The services that ship with the node. They see what any user's service sees: {@code service} and {@code anep}. */
@NullMarked
package org.tamanoir.services;

import org.jspecify.annotations.NullMarked;
