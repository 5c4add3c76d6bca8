/**
 * What the services of {@code tamanoir-services-extra.jar} share. They are no part of the node: nodes fetch them from a
 * repository, so they see {@code service}, {@code anep} and their own jar alone.
 */
@NullMarked
package org.tamanoir.services.extra;

import org.jspecify.annotations.NullMarked;
