/** Gateways: ports whose senders do not speak ANEP, and what they speak. */
@NullMarked
package org.tamanoir.gateway;

import org.jspecify.annotations.NullMarked;
