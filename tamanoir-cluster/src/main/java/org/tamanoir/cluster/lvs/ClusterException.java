package org.tamanoir.cluster.lvs;

/** Something of the cluster cannot be done; the message is one line: what, the value, the bound, the remedy. */
public final class ClusterException extends Exception {
    private static final long serialVersionUID = 1L;

    public ClusterException(String message) {
        super(message);
    }

    public ClusterException(String message, Throwable cause) {
        super(message, cause);
    }
}
