package org.tamanoir.service;

/**
 * Thrown at a checkpoint of a service that is to stop: its packet has used up its budget, or it does not return. Every
 * checkpoint throws it until the service has returned; to catch it is of no use.
 */
public final class ServiceStopped extends Error {
    private static final long serialVersionUID = 1;

    /** For the node. @param why in a few words */
    public ServiceStopped(String why) {
        super(why, null, false, true);
    }
}
