/** All that active code may see, besides packets: extend {@link org.tamanoir.service.Service}. */
@NullMarked
package org.tamanoir.service;

import org.jspecify.annotations.NullMarked;
