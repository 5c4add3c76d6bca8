/** Commands for authors of services, and the repository. */
@NullMarked
package org.tamanoir.node.author;

import org.jspecify.annotations.NullMarked;
