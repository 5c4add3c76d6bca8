/** What the services of {@code tamanoir-services-extra.jar} that correct errors cost. */
@NullMarked
package org.tamanoir.services.extra.fec;

import org.jspecify.annotations.NullMarked;
