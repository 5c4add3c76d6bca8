/** ICMP (RFC 792) and ICMPv6 (RFC 4443): messages where they lie. */
@NullMarked
package org.tamanoir.icmp;

import org.jspecify.annotations.NullMarked;
