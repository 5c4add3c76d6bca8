@NullMarked
package org.tamanoir.services.morph.expression;

import org.jspecify.annotations.NullMarked;
