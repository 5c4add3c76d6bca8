package org.tamanoir.admission;

/** Why a TCP connection, or a branch of one, gets no place in the node. */
public enum StreamRefusal {
    /** As many places are taken as {@code max-streams} allows. */
    MAX_STREAMS("the node has as many as limits.max-streams allows"),
    /** As many are taken as the JVM has memory for. */
    MEMORY("the JVM has no memory for more; raise -Xmx or -XX:MaxDirectMemorySize"),
    /** The peer address has as many as it may. */
    PEER("its address has as many as limits.max-streams-per-peer allows"),
    /** The connection has as many branches as it may. */
    BRANCHES("the connection has as many further services as limits.max-branches allows"),
    /** The node is about to stop. */
    STOPPING("the node stops");

    private final String text;

    StreamRefusal(String text) {
        this.text = text;
    }

    /** The reason in words. */
    public String text() {
        return text;
    }
}
