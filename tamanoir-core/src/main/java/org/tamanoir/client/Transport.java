package org.tamanoir.client;

/** Transports of ANEP packets. */
public enum Transport {
    TCP,
    UDP
}
