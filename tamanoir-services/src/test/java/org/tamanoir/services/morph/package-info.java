@NullMarked
package org.tamanoir.services.morph;

import org.jspecify.annotations.NullMarked;
