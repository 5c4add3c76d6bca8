package org.tamanoir.cluster.lvs;

/** A transport that LVS balances for Tamanoir. */
public enum Protocol {
    TCP("tcp", "-t"),
    UDP("udp", "-u");

    private final String label;
    private final String option;

    Protocol(String label, String option) {
        this.label = label;
        this.option = option;
    }

    /** Returns {@code tcp} or {@code udp}. */
    public String label() {
        return label;
    }

    /** Returns the option of ipvsadm. */
    String option() {
        return option;
    }

    /** Returns the protocol of a label. */
    public static Protocol of(String label) {
        return switch (label) {
            case "tcp" -> TCP;
            case "udp" -> UDP;
            default -> throw new IllegalArgumentException("'" + label + "' must be tcp or udp");
        };
    }
}
