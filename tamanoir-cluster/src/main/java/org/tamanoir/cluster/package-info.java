/** A cluster of nodes behind a Linux Virtual Server: the director, its back-ends, what they tell each other. */
@NullMarked
package org.tamanoir.cluster;

import org.jspecify.annotations.NullMarked;
