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
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Says why something failed, for lines that people read. Exceptions of networks often have no message, or one that
 * begins with {@code null}: what they are is said by their class then. Stateless; any thread.
 */
public final class Causes {
    /** Of Netty: {@code bind(..) failed with error(-98): Address already in use}. */
    private static final Pattern SYSTEM_CALL =
            Pattern.compile("\\w+\\(\\.\\.\\) failed(?: with error\\(-?\\d+\\))?: (.+)", Pattern.DOTALL);
    /** With the address behind it, which who asks says himself. */
    private static final Pattern REFUSED =
            Pattern.compile("(Connection refused|Connection reset|Connection timed out): .+");
    /** Of TLS. */
    private static final Pattern ALERT = Pattern.compile("fatal alert: (\\w+)");

    private Causes() {}

    /** Returns the reason in words, never empty. */
    public static String text(Throwable failure) {
        Throwable cause = own(failure);
        String message = cause.getMessage();
        if (cause instanceof FileSystemException file) {
            return ofFile(file);
        }
        if (message == null || message.isBlank() || message.startsWith("null")) {
            return cause instanceof UnknownHostException ? "unknown host" : words(cause);
        }
        return cause instanceof UnknownHostException ? "unknown host " + message : known(message);
    }

    /** Returns what is wrong with a file, without its name, which is all that Java's own message has for most. */
    private static String ofFile(FileSystemException failure) {
        if (failure instanceof NoSuchFileException) {
            return "there is no such file or folder";
        }
        if (failure instanceof AccessDeniedException) {
            return "no permission";
        }
        if (failure instanceof FileAlreadyExistsException) {
            return "it exists already";
        }
        if (failure instanceof NotDirectoryException) {
            return "it is no folder";
        }
        if (failure instanceof DirectoryNotEmptyException) {
            return "the folder is not empty";
        }
        return failure.getReason() == null ? "it cannot be read or written" : failure.getReason();
    }

    /** Returns a message in words of its own, where it is one that only programmers know. */
    private static String known(String message) {
        if (message.contains("unable to find valid certification path")) {
            return "its certificate comes from no trusted authority";
        }
        if (message.contains("PKIX") && message.contains("NotAfter")) {
            return "its certificate, or that of its authority, has expired";
        }
        if (message.contains("PKIX")) {
            return "its certificate cannot be traced to a trusted authority";
        }
        Matcher alert = ALERT.matcher(message);
        if (alert.find()) {
            return "refused by the other side: " + alert.group(1).replace('_', ' ');
        }
        Matcher call = SYSTEM_CALL.matcher(message);
        Matcher refused = REFUSED.matcher(call.matches() ? call.group(1) : message);
        return refused.matches() ? refused.group(1) : call.matches() ? call.group(1) : message;
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
            Throwable why = cause.getCause();
            return why == null || why instanceof ClosedChannelException ? "no connection" : text(why);
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
