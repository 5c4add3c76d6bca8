package org.tamanoir.platform;

import java.io.EOFException;
import java.io.UncheckedIOException;
import java.net.ConnectException;
import java.net.NoRouteToHostException;
import java.net.PortUnreachableException;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.UnresolvedAddressException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;

/**
 * Says why something failed, for lines that people read. Exceptions of networks often have no message, or one that
 * begins with {@code null}: what they are is said by their class then. Stateless; any thread.
 */
public final class Causes {
    private Causes() {}

    /** Returns the reason in words, never empty. */
    public static String text(Throwable failure) {
        Throwable cause = own(failure);
        String message = cause.getMessage();
        if (message == null || message.isBlank() || message.startsWith("null")) {
            return cause instanceof UnknownHostException ? "unknown host" : words(cause);
        }
        return cause instanceof UnknownHostException ? "unknown host " + message : message;
    }

    /** Returns what is in wrappers that say nothing, or the same with the peer's address behind it, as Netty's do. */
    private static Throwable own(Throwable failure) {
        Throwable cause = failure;
        while (cause.getCause() != null && isWrapper(cause, cause.getCause())) {
            cause = cause.getCause();
        }
        return cause;
    }

    private static boolean isWrapper(Throwable outer, Throwable inner) {
        return outer instanceof CompletionException
                || outer instanceof ExecutionException
                || outer instanceof UncheckedIOException
                || outer instanceof SocketException && inner instanceof SocketException;
    }

    private static String words(Throwable cause) {
        if (cause instanceof NoRouteToHostException) {
            return "no route to the host";
        }
        if (cause instanceof PortUnreachableException) {
            return "nobody listens on the port";
        }
        if (cause instanceof ConnectException) {
            return cause.getCause() == null ? "no connection" : "no connection: " + text(cause.getCause());
        }
        if (cause instanceof UnresolvedAddressException) {
            return "the name does not resolve";
        }
        if (cause instanceof ClosedChannelException) {
            return "the connection is closed";
        }
        if (cause instanceof SocketTimeoutException || cause instanceof TimeoutException) {
            return "no answer in time";
        }
        if (cause instanceof EOFException) {
            return "the other side ended the connection";
        }
        return cause.getCause() == null ? cause.getClass().getSimpleName() : text(cause.getCause());
    }
}
