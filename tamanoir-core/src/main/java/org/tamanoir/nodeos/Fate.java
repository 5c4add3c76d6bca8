package org.tamanoir.nodeos;

import java.net.InetSocketAddress;

/** What becomes of a packet that a level handles. */
public sealed interface Fate {
    /** It goes on to where its IP header says. */
    record On() implements Fate {}

    /** It ends. */
    record Drop() implements Fate {}

    /**
     * It goes to another address; its source stays.
     *
     * @param address numeric, of the flow's family; port 0 keeps the packet's
     */
    record To(InetSocketAddress address) implements Fate {
        /** Refuses names. */
        public To {
            if (address.isUnresolved()) {
                throw new IllegalArgumentException("to " + address + ": must be a numeric address");
            }
        }
    }

    /**
     * It leaves through this network interface, towards the next hop that the kernel's routes name there.
     *
     * @param networkInterface as {@code ip link} names it
     */
    record Redirect(String networkInterface) implements Fate {}
}
