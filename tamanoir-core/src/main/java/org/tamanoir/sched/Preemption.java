package org.tamanoir.sched;

/** How services are asked to give their turns back in the midst of a packet: at the next of their checkpoints. */
public interface Preemption {
    /** Asks nobody. */
    Preemption NONE = (who, on) -> {};

    /** Has threads with turns ask at their checkpoints, or not any more on behalf of this one. Any thread. */
    void want(Object who, boolean on);
}
