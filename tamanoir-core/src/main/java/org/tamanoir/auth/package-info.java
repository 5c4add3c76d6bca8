/** Authentication of packets from hop to hop: keys, what is guarded, what is signed, and windows against replays. */
@NullMarked
package org.tamanoir.auth;

import org.jspecify.annotations.NullMarked;
