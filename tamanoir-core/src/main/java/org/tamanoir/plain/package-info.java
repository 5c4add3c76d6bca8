/** Plain IP that asks for services: what an operator's rules say of datagrams that carry no ANEP. */
@NullMarked
package org.tamanoir.plain;

import org.jspecify.annotations.NullMarked;
