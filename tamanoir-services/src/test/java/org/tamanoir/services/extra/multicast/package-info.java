@NullMarked
package org.tamanoir.services.extra.multicast;

import org.jspecify.annotations.NullMarked;
