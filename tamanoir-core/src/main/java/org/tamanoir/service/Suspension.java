package org.tamanoir.service;

/** A packet that a service has put aside by {@link Service#hold}. */
public interface Suspension {
    /**
     * Has the packet go on: soon, and on the service's thread; behind those of the instance that were resumed before it. Any
     * thread.
     *
     * @param verdict {@link Verdict#FORWARD}, {@link Verdict#REPLY}, or one that {@linkplain Verdict#endsPacket ends} the packet
     * @return true when this verdict decides what becomes of the packet; false when that was decided before: something was
     *     said already, its time was up, another verdict than {@link Verdict#HELD} was returned, there was no room to
     *     hold it, or its stream or instance has ended
     * @throws IllegalArgumentException for another verdict
     */
    boolean resume(Verdict verdict);
}
