package org.tamanoir.benchmarks.emulate;

/** A packet that comes; filled anew for each. One thread. */
final class Arrival {
    /** Time since the first packet of the schedule may come; never less than that of the packet before. */
    long ns;
    /** Of the packet; on a line it takes 20 more. */
    int bytes;
    /** Upper 64 bits of the destination; 0 for IPv4, which stands as ::ffff:a.b.c.d. */
    long high;

    long low;
    /** Class of service, 0 to 255. */
    int trafficClass;
    /** The service, by its place among those of the run. */
    int service;

    void to(int ipv4) {
        high = 0;
        low = 0xFFFFL << 32 | Integer.toUnsignedLong(ipv4);
    }
}
