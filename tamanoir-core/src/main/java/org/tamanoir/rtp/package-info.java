/** RTP (RFC 3550): its packets where they lie, and what is known of each source of them. */
@NullMarked
package org.tamanoir.rtp;

import org.jspecify.annotations.NullMarked;
