/** Sound, pictures and films in another form, or in less of it. */
@NullMarked
package org.tamanoir.services.extra.transcode;

import org.jspecify.annotations.NullMarked;
