package org.tamanoir.qdisc;

/** Which of the points that a {@link QosConfig} has schedule traffic. */
public enum QosPoints {
    /** All that there are. */
    GIVEN,
    /**
     * Those before processing, while no service that runs changes the sizes of its traffic, else those after it: the rule
     * of the paper on quality of service (2003).
     */
    AUTO
}
