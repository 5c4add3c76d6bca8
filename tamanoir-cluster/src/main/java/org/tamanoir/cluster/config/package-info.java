/** What a director and its back-ends are set up as, and what they say to each other: records with their bounds. */
@NullMarked
package org.tamanoir.cluster.config;

import org.jspecify.annotations.NullMarked;
