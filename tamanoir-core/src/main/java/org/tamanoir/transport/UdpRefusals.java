package org.tamanoir.transport;

/** Learns which datagrams of a {@link UdpSender} did not leave. Called by the sender's thread, within its calls. */
public interface UdpRefusals {
    /**
     * Takes note of datagrams to one receiver.
     *
     * @param high upper 64 bits of its address; 0 for IPv4, which stands as ::ffff:a.b.c.d
     * @param bytes of all together
     * @param isFull whether the socket's send buffer had no room; else the operating system refused them
     */
    void refused(long high, long low, int port, int packets, int bytes, boolean isFull);
}
