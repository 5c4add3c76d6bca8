package org.tamanoir.platform;

/** Which threads the services of TCP streams run on. */
public enum ThreadKind {
    /** Threads of the operating system, on every version of Java. */
    PLATFORM,
    /** {@linkplain VirtualThreads Virtual threads}, which cost less where thousands of streams send little each. */
    VIRTUAL
}
