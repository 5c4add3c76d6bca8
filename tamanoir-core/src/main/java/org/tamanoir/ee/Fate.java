package org.tamanoir.ee;

import org.jspecify.annotations.Nullable;
import org.tamanoir.accounting.DropReason;

/**
 * Learns what becomes of a packet that waits to leave.
 *
 * <p>Thread contract: the service's thread.
 */
interface Fate {
    /** Takes note that it has left, where there is no reason, or ended. Called once. */
    void ended(@Nullable DropReason reason);
}
