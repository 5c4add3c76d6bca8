@NullMarked
package org.tamanoir.services.extra.transcode;

import org.jspecify.annotations.NullMarked;
