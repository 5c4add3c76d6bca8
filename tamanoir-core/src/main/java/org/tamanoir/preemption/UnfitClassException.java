package org.tamanoir.preemption;

/** A class that cannot get checkpoints, with the reason. */
public final class UnfitClassException extends Exception {
    private static final long serialVersionUID = 1;

    UnfitClassException(String why) {
        super(why, null, false, false);
    }
}
