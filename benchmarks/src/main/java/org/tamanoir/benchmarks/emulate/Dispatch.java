package org.tamanoir.benchmarks.emulate;

/** What the node's processors take turns by. */
enum Dispatch {
    /** A thread for each stream: the node's default. */
    STREAM
}
