package org.tamanoir.benchmarks;

/** How packets travel to and from a forwarder. */
enum Transport {
    TCP,
    UDP
}
