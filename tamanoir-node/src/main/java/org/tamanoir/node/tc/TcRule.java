package org.tamanoir.node.tc;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Says when a class of the host's HTB gets another rate, and which.
 *
 * @param device as {@code ip link} shows it
 * @param classId of a leaf, as {@code tc class show} shows it
 * @param rateBytesPerSecond while it is congested
 * @param ceilBytesPerSecond likewise; null = what it has, or the rate where that is more
 * @param after how long it must be congested without a break before
 * @param hold how long it must be calm before it gets back what it had, and the least time between two changes
 */
public record TcRule(
        String device,
        String classId,
        Trigger when,
        long rateBytesPerSecond,
        @Nullable Long ceilBytesPerSecond,
        Duration after,
        Duration hold) {
    /**
     * Says what congestion is: one of these that is over its bound.
     *
     * @param qosClass whose delay and drops at the node's links count; null = none
     * @param delayOver mean wait of the packets that left since the look before; null = no matter
     * @param dropsOver packets a second that the class of the links, and the HTB class, dropped; null = no matter
     * @param backlogOver bytes that wait in the HTB class; null = no matter
     */
    public record Trigger(
            @Nullable String qosClass,
            @Nullable Duration delayOver,
            @Nullable Integer dropsOver,
            @Nullable Long backlogOver) {}

    /** Returns how lines call the class. */
    String name() {
        return "class " + classId + " of " + device;
    }
}
