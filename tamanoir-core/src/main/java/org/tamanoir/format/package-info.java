/**
 * Self-describing records in FFS's encoding: descriptions, identifiers, records read where they lie, files, and
 * conversion. Imports the JDK alone.
 */
@NullMarked
package org.tamanoir.format;

import org.jspecify.annotations.NullMarked;
