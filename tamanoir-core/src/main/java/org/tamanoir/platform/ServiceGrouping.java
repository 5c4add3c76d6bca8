package org.tamanoir.platform;

/** Whose threads share processors with others as one. */
public enum ServiceGrouping {
    /** Nobody's. */
    OFF,
    /** Those of each service, where the operating system lets the node say so. */
    SERVICES
}
