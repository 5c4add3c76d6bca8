package org.tamanoir.cluster.reflect;

/** What a member does in its session. */
public enum Direction {
    SEND,
    RECEIVE,
    BOTH;

    boolean sends() {
        return this != RECEIVE;
    }

    boolean receives() {
        return this != SEND;
    }
}
