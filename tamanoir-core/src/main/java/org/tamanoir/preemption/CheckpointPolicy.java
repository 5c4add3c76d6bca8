package org.tamanoir.preemption;

/** Whether the classes of deployed services get checkpoints. */
public enum CheckpointPolicy {
    /** A service with a class that cannot get them is refused. */
    REQUIRED,
    /** Such a class runs without. */
    PREFERRED,
    /** None gets any. */
    OFF
}
