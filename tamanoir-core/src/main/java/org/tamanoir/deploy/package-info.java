/** Code of services: names, manifests, signatures and trust, fetching, loading and unloading. */
@NullMarked
package org.tamanoir.deploy;

import org.jspecify.annotations.NullMarked;
