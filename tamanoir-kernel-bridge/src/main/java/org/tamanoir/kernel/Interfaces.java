package org.tamanoir.kernel;

import org.tamanoir.nodeos.LevelException;

/**
 * Network interfaces of the calling thread's network namespace.
 *
 * <p>Thread contract: any thread.
 */
final class Interfaces {
    private Interfaces() {}

    /**
     * Returns the interface's number.
     *
     * @throws LevelException if there is none of this name
     */
    static int index(String name) throws LevelException {
        int index = LibC.if_nametoindex(name);
        if (index == 0) {
            throw new LevelException("network interface " + name + " does not exist: name one that \"ip link\" shows");
        }
        return index;
    }
}
