/** Certificates and keys in PEM files, as TLS contexts. */
@NullMarked
package org.tamanoir.tls;

import org.jspecify.annotations.NullMarked;
