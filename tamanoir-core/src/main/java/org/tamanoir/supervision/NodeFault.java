package org.tamanoir.supervision;

/** Carries a fault of the node past the service in whose call it was met: it is not the service's. */
public final class NodeFault extends RuntimeException {
    private static final long serialVersionUID = 1;

    public NodeFault(Throwable fault) {
        super("a fault of the node: " + fault, fault, false, false);
    }
}
