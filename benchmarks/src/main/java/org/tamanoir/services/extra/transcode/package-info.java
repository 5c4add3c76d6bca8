/** What sound costs that a service of {@code tamanoir-services-extra.jar} transcodes. */
@NullMarked
package org.tamanoir.services.extra.transcode;

import org.jspecify.annotations.NullMarked;
