package org.tamanoir.kernel;

import org.tamanoir.nodeos.NodeOs;

/** The levels below the JVM that this host has, for one node. */
public final class KernelBridge {
    private KernelBridge() {}

    /**
     * Looks at what is there; changes nothing yet but what a node that was killed has left behind, which it removes.
     *
     * @return {@link NodeOs#NONE} when no interface is configured
     */
    public static NodeOs open(KernelConfig config) {
        if (config.interfaces().isEmpty()) {
            return NodeOs.NONE;
        }
        throw new UnsupportedOperationException("levels below the JVM");
    }
}
