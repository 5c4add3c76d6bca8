/**
 * Records as JSON, CBOR, CSV and XML, by the same descriptions. Imports Jackson's streams and the JDK.
 */
@NullMarked
package org.tamanoir.format.text;

import org.jspecify.annotations.NullMarked;
