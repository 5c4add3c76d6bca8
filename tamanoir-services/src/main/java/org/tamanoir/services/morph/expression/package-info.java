/**
 * Expressions over records in CEL, the Common Expression Language: {@code flight.delay > 15 && flight.hub in ["ATL"]}.
 * dev.cel parses and checks them; what most of them need runs as closures over the record's bytes, the rest on dev.cel's
 * runtime. The only package that imports dev.cel, and what comes with it.
 */
@NullMarked
package org.tamanoir.services.morph.expression;

import org.jspecify.annotations.NullMarked;
