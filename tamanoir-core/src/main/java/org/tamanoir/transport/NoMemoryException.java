package org.tamanoir.transport;

/**
 * A {@link BufferPool} has given all that it may, or the JVM has none ({@link ScarceMemory}): the packet, or the stream,
 * that asked ends, and nothing else does. Without a stack trace, since it tells of a state, not of a fault.
 */
public final class NoMemoryException extends RuntimeException {
    private static final long serialVersionUID = 1;

    NoMemoryException(String message) {
        super(message, null, false, false);
    }
}
