/** The admin API of a node: HTTP and JSON, metrics, and the access log of its streams. */
@NullMarked
package org.tamanoir.node.admin;

import org.jspecify.annotations.NullMarked;
