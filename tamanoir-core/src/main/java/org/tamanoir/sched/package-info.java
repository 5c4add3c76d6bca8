/**
 * Scheduling points: turns on processors before processing, departures on links after it, and the configuration in
 * force. Knows no sockets, makes no threads, and is told the time.
 */
@NullMarked
package org.tamanoir.sched;

import org.jspecify.annotations.NullMarked;
