package org.tamanoir.service;

/** A packet that a service has put aside by {@link Service#hold}. */
public interface Suspension {
    /**
     * Has the packet go on: soon, and on the service's thread. Any thread.
     *
     * @param verdict {@link Verdict#FORWARD}, {@link Verdict#REPLY}, {@link Verdict#DROP} or {@link Verdict#CONSUME}
     * @return false when that was said already, or the packet has ended: its time was up, or its stream
     * @throws IllegalArgumentException for another verdict
     */
    boolean resume(Verdict verdict);
}
