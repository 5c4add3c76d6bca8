@NullMarked
package org.tamanoir.services;

import org.jspecify.annotations.NullMarked;
