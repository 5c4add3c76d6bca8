package org.tamanoir.qdisc;

import org.tamanoir.anep.Packet;

/**
 * Finds the class of a packet: by its class-of-service option, else by the first rule that fits, else the default
 * class. It looks at each packet by itself, since the packets of one stream may be of different classes.
 *
 * <p>Thread contract: immutable.
 */
public final class Classifier {
    /**
     * @param config without problems
     */
    public Classifier(QosConfig config) {
        throw new UnsupportedOperationException();
    }

    /** Index of the packet's class in the configuration. Allocates nothing. */
    public int classOf(Packet packet) {
        throw new UnsupportedOperationException();
    }

    /** A hash of the packet's stream: of its stream identifier and its ends. */
    public static long streamHash(Packet packet) {
        throw new UnsupportedOperationException();
    }
}
