package org.tamanoir.node.tc;

/** Classes of the host cannot be seen or changed; the message is one line: what is wrong, and the remedy. */
final class HostException extends Exception {
    private static final long serialVersionUID = 1L;

    HostException(String message) {
        super(message);
    }

    HostException(String message, Throwable cause) {
        super(message, cause);
    }
}
