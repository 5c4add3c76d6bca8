@NullMarked
package org.tamanoir.services.morph.handler;

import org.jspecify.annotations.NullMarked;
