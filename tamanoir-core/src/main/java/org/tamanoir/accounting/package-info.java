/** The account of packets: why those ended that have not left. Imports packets alone. */
@NullMarked
package org.tamanoir.accounting;

import org.jspecify.annotations.NullMarked;
