package org.tamanoir.platform;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.EOFException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ConnectException;
import java.net.NoRouteToHostException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.UnresolvedAddressException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import javax.net.ssl.SSLHandshakeException;
import org.junit.jupiter.api.Test;

class CausesTest {
    /** What Netty makes of a failed connection: the message of the original, and the address behind it. */
    private static ConnectException annotated(ConnectException original) {
        ConnectException annotated = new ConnectException(original.getMessage() + ": /10.0.0.9:80");
        annotated.initCause(original);
        return annotated;
    }

    @Test
    void aMessageIsTheReason() {
        assertThat(Causes.text(new IOException("disk full"))).isEqualTo("disk full");
        assertThat(Causes.text(new ExecutionException(new CompletionException(new IOException("disk full")))))
                .isEqualTo("disk full");
        assertThat(Causes.text(new UncheckedIOException(new IOException("disk full"))))
                .isEqualTo("disk full");
        assertThat(Causes.text(annotated(new ConnectException("Connection refused"))))
                .isEqualTo("Connection refused");
        assertThat(Causes.text(new UnknownHostException("node9"))).isEqualTo("unknown host node9");
    }

    @Test
    void whereThereIsNoneTheClassSaysIt() {
        NoRouteToHostException annotated = new NoRouteToHostException("null: /10.0.0.9:80");
        annotated.initCause(new NoRouteToHostException());
        assertThat(Causes.text(annotated)).isEqualTo("no route to the host");
        assertThat(Causes.text(annotated(new ConnectException()))).isEqualTo("no connection");
        ConnectException outer = new ConnectException();
        outer.initCause(new ClosedChannelException());
        assertThat(Causes.text(outer)).isEqualTo("no connection");
        ConnectException unresolved = new ConnectException();
        unresolved.initCause(new UnresolvedAddressException());
        assertThat(Causes.text(unresolved)).isEqualTo("the name does not resolve");
        assertThat(Causes.text(new AsynchronousCloseException())).isEqualTo("the connection is closed");
        assertThat(Causes.text(new UnresolvedAddressException())).isEqualTo("the name does not resolve");
        assertThat(Causes.text(new TimeoutException())).isEqualTo("no answer in time");
        assertThat(Causes.text(new SocketTimeoutException())).isEqualTo("no answer in time");
        assertThat(Causes.text(new EOFException())).isEqualTo("the other side ended the connection");
    }

    @Test
    void whatJavaAloneKnowsIsSaidInWords() {
        assertThat(Causes.text(new NoSuchFileException("/etc/x"))).isEqualTo("there is no such file or folder");
        assertThat(Causes.text(new AccessDeniedException("/etc/x"))).isEqualTo("no permission");
        assertThat(Causes.text(new FileSystemException("/etc/x", null, "No space left on device")))
                .isEqualTo("No space left on device");
        assertThat(Causes.text(new FileSystemException("/etc/x"))).isEqualTo("it cannot be read or written");
        assertThat(Causes.text(new IOException("bind(..) failed with error(-98): Address already in use")))
                .isEqualTo("Address already in use");
        assertThat(Causes.text(
                        new ConnectException("connect(..) failed with error(-111): Connection refused: /::1:80")))
                .isEqualTo("Connection refused");
        assertThat(Causes.text(new ConnectException("Connection refused: localhost/127.0.0.1:80")))
                .isEqualTo("Connection refused");
        String path = "(certificate_unknown) PKIX path building failed: sun.security.provider.certpath."
                + "SunCertPathBuilderException: unable to find valid certification path to requested target";
        assertThat(Causes.text(new SSLHandshakeException(path)))
                .isEqualTo("its certificate comes from no trusted authority");
        String late =
                "PKIX path validation failed: java.security.cert.CertPathValidatorException: validity check failed: "
                        + "NotAfter: Mon Jan 01 00:00:00 UTC 2024";
        assertThat(Causes.text(new SSLHandshakeException(late)))
                .isEqualTo("its certificate, or that of its authority, has expired");
        assertThat(Causes.text(new SSLHandshakeException("Received fatal alert: bad_certificate")))
                .isEqualTo("refused by the other side: bad certificate");
    }

    @Test
    void noReasonIsEmptyOrNull() {
        for (Throwable failure : List.of(
                new IOException(),
                new IOException(""),
                new IOException("null"),
                new RuntimeException(),
                new StackOverflowError(),
                new UnknownHostException())) {
            assertThat(Causes.text(failure)).isNotBlank().doesNotContain("null");
        }
    }
}
