package org.tamanoir.cluster.lvs;

/**
 * How packets reach a back-end.
 *
 * @see <a href="https://docs.kernel.org/networking/ipvs-sysctl.html">ipvs-sysctl</a>, and the manual page ipvsadm(8)
 */
public enum Forwarding {
    /** Addresses are rewritten; answers come back through the director. */
    NAT("nat", "-m"),
    /** The frame goes to the back-end's hardware address, the packet as it is; same network segment. */
    DIRECT("direct", "-g"),
    /** The packet goes as it is inside one of IP to the back-end (IP in IP, protocol 4; IPv6: 41). */
    TUNNEL("tunnel", "-i");

    private final String label;
    private final String option;

    Forwarding(String label, String option) {
        this.label = label;
        this.option = option;
    }

    /** Returns the name in configuration files. */
    public String label() {
        return label;
    }

    /** Returns the option of ipvsadm. */
    String option() {
        return option;
    }

    /** Returns the mode of a label. */
    public static Forwarding of(String label) {
        for (Forwarding each : values()) {
            if (each.label.equals(label)) {
                return each;
            }
        }
        throw new IllegalArgumentException("'" + label + "' must be nat, direct or tunnel");
    }
}
