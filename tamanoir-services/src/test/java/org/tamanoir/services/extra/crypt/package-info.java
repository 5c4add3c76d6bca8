@NullMarked
package org.tamanoir.services.extra.crypt;

import org.jspecify.annotations.NullMarked;
