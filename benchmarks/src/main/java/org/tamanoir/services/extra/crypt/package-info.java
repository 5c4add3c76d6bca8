/** What the services of {@code tamanoir-services-extra.jar} that encrypt cost. */
@NullMarked
package org.tamanoir.services.extra.crypt;

import org.jspecify.annotations.NullMarked;
