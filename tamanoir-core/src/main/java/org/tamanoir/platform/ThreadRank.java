package org.tamanoir.platform;

/** What a thread of the operating system is for, the most urgent first: so it gets processors. */
public enum ThreadRank {
    /** Keeps the node alive: reception, timers, watchdog, ring. Threads that it starts are threads like any other. */
    CONTROL,
    /** As urgent, and so are the threads that it starts: those of a library's server. */
    SERVER,
    /** Changes routes and what runs: after those above, before services. */
    CHANGE,
    /** Runs a service. */
    SERVICE
}
