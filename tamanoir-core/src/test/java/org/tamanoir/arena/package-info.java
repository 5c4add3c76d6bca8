@NullMarked
package org.tamanoir.arena;

import org.jspecify.annotations.NullMarked;
