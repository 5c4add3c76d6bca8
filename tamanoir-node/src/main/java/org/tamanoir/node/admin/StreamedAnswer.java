package org.tamanoir.node.admin;

import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.util.Arrays;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * An answer that goes on. Each write waits until the operating system has taken the bytes, so that a client that
 * reads slowly slows the writer down, and nothing piles up. One thread.
 */
final class StreamedAnswer {
    static final String EVENT_STREAM = "text/event-stream";

    static final String PCAP = "application/vnd.tcpdump.pcap";

    /** For one write: a client that takes nothing for so long is let go. */
    private static final long STALL_SECONDS = 30;

    private final HttpServerResponse response;
    private final BooleanSupplier isOver;
    /** It has a head alone. */
    private final boolean isHead;

    private boolean begun;

    StreamedAnswer(HttpServerRequest request, BooleanSupplier isOver) {
        this.response = request.response();
        this.isHead = request.method() == HttpMethod.HEAD;
        this.isOver = isOver;
    }

    boolean hasBegun() {
        return begun;
    }

    /** Returns whether the client is gone, or another process tells it more. */
    boolean isClosed() {
        return isHead && begun || response.closed() || isOver.getAsBoolean();
    }

    void begin(String contentType) {
        begun = true;
        response.setChunked(true).putHeader(HttpHeaders.CONTENT_TYPE, contentType);
    }

    void write(byte[] bytes) throws IOException, InterruptedException {
        if (isHead) {
            return;
        }
        try {
            response.write(Buffer.buffer(bytes))
                    .toCompletionStage()
                    .toCompletableFuture()
                    .get(STALL_SECONDS, TimeUnit.SECONDS);
        } catch (ExecutionException | IllegalStateException | RejectedExecutionException e) {
            throw new IOException("the client is gone, or the server ends", e);
        } catch (TimeoutException e) {
            throw new IOException("the client has read nothing for " + STALL_SECONDS + " s", e);
        }
    }

    /** The same as a stream, which need not be closed. */
    OutputStream stream() {
        return new OutputStream() {
            @Override
            public void write(int octet) throws IOException {
                write(new byte[] {(byte) octet}, 0, 1);
            }

            @Override
            public void write(byte[] bytes, int from, int length) throws IOException {
                try {
                    StreamedAnswer.this.write(Arrays.copyOfRange(bytes, from, from + length));
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                    throw new InterruptedIOException("the node ends");
                }
            }
        };
    }

    /** A comment of an event stream; clients skip it. */
    void comment(String text) throws IOException, InterruptedException {
        write(Api.bytes(": " + text + "\n\n"));
    }

    /** An event of an event stream. */
    void event(String kind, @Nullable String id, Object view) throws IOException, InterruptedException {
        StringBuilder text = new StringBuilder();
        if (id != null) {
            text.append("id: ").append(id).append('\n');
        }
        text.append("event: ").append(kind).append("\ndata: ");
        Buffer all =
                Buffer.buffer(text.toString()).appendBytes(Replies.json(view)).appendString("\n\n");
        write(all.getBytes());
    }

    void end() throws IOException {
        try {
            if (!response.ended() && !response.closed()) {
                response.end();
            }
        } catch (IllegalStateException | RejectedExecutionException e) {
            throw new IOException("the client is gone, or the server ends", e);
        }
    }

    /** Ends without the end that tells a client that it has everything. */
    void breakOff() {
        try {
            response.reset();
        } catch (IllegalStateException | RejectedExecutionException e) {
            // It is broken off.
        }
    }
}
