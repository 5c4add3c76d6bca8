package org.tamanoir.node.tc;

import java.util.Map;

/** The host's classes, which tests have a record in place of. One thread. */
interface HtbControl {
    /**
     * Returns the classes of a device, by identifier.
     *
     * @throws HostException in one line with the remedy, if they cannot be seen
     */
    Map<String, HtbClass> show(String device) throws HostException;

    /**
     * Has a class of a device become this.
     *
     * @throws HostException in one line with the remedy, if the host refuses
     */
    void change(String device, HtbClass wanted) throws HostException;
}
