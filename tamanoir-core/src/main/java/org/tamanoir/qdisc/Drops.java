package org.tamanoir.qdisc;

import org.tamanoir.accounting.DropReason;

/** Where a discipline gives back what it refuses or drops. Called inside its methods; must not call it back. */
@FunctionalInterface
public interface Drops {
    /** The item is the owner's again. */
    void dropped(Item item, DropReason reason);
}
