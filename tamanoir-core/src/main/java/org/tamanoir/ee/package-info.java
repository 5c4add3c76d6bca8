/** The execution environment: demultiplexer, service threads, departures, lifecycle. */
@NullMarked
package org.tamanoir.ee;

import org.jspecify.annotations.NullMarked;
