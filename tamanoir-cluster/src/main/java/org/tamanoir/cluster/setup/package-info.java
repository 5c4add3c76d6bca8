/** What director and back-ends need of their hosts: addresses, tunnels, kernel settings, keepalived. */
@NullMarked
package org.tamanoir.cluster.setup;

import org.jspecify.annotations.NullMarked;
