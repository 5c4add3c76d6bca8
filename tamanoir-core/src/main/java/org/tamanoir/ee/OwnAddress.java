package org.tamanoir.ee;

import org.tamanoir.transport.UdpSender;

/**
 * An address of this host that datagrams leave from, as {@link UdpSender#from} takes it; at first the system chooses.
 *
 * <p>Thread contract: one thread at a time.
 */
final class OwnAddress {
    private long high;
    private long low;
    private int device;

    /** Becomes the address that a datagram was sent to. */
    void set(Arrival arrival) {
        high = arrival.ownHigh();
        low = arrival.ownLow();
        device = arrival.ownDevice();
    }

    void set(OwnAddress other) {
        high = other.high;
        low = other.low;
        device = other.device;
    }

    /** Returns whether it is the address that a datagram was sent to, and the interface that it came by. */
    boolean isOf(Arrival arrival) {
        return low == arrival.ownLow() && high == arrival.ownHigh() && device == arrival.ownDevice();
    }

    /** Returns the upper 64 bits; 0 and 0 = the system chooses. */
    long high() {
        return high;
    }

    long low() {
        return low;
    }

    /** Returns the number of the interface that packets leave by; 0 = as the routes say. */
    int device() {
        return device;
    }
}
