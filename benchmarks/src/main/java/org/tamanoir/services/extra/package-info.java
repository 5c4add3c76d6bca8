/** What the services of {@code tamanoir-services-extra.jar} cost. */
@NullMarked
package org.tamanoir.services.extra;

import org.jspecify.annotations.NullMarked;
