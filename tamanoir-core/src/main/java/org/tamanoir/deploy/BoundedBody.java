package org.tamanoir.deploy;

import com.google.common.hash.Hashing;
import com.google.common.hash.HashingOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.http.HttpResponse.BodySubscriber;
import java.net.http.HttpResponse.BodySubscribers;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import org.jspecify.annotations.Nullable;

/**
 * The body of an HTTP answer, taken up to a bound whatever the answer's head says: the first byte too many ends the
 * connection, and the body with a {@link TooLongException}. What cannot be kept ends it with a {@link SinkException}.
 *
 * <p>Thread contract: the HTTP client's threads bring bytes, one at a time; any thread may ask how many came.
 *
 * @param <T> what the bytes become
 */
public final class BoundedBody<T> implements BodySubscriber<T> {
    /** The answer has more bytes than it may have. */
    public static final class TooLongException extends IOException {
        private static final long serialVersionUID = 1L;

        TooLongException(long limitBytes) {
            super("answered more than " + limitBytes + " bytes");
        }
    }

    /** Bytes came and could not be kept; the cause says why. */
    static final class SinkException extends RuntimeException {
        private static final long serialVersionUID = 1L;

        private final IOException reason;

        SinkException(IOException reason) {
            super(reason.getMessage(), reason);
            this.reason = reason;
        }

        IOException reason() {
            return reason;
        }
    }

    private final long limitBytes;
    private final BodySubscriber<T> target;
    private Flow.@Nullable Subscription source;
    private volatile long bytes;
    private volatile long lastNs = System.nanoTime();

    private BoundedBody(long limitBytes, BodySubscriber<T> target) {
        this.limitBytes = limitBytes;
        this.target = target;
    }

    /** Returns a body that is kept in memory. */
    public static BoundedBody<byte[]> bytes(int limitBytes) {
        return new BoundedBody<>(limitBytes, BodySubscribers.ofByteArray());
    }

    /** Returns a body that is kept in memory, as text in UTF-8. */
    public static BoundedBody<String> text(int limitBytes) {
        return new BoundedBody<>(limitBytes, BodySubscribers.ofString(StandardCharsets.UTF_8));
    }

    /** Returns a body that is written to a file, and becomes its SHA-256 of 64 hexadecimal digits. */
    public static BoundedBody<String> file(long limitBytes, OutputStream file) {
        HashingOutputStream hashing = new HashingOutputStream(Hashing.sha256(), file);
        BodySubscriber<Void> writing = BodySubscribers.ofByteArrayConsumer(some -> some.ifPresent(chunk -> {
            try {
                hashing.write(chunk);
            } catch (IOException e) {
                throw new SinkException(e);
            }
        }));
        return new BoundedBody<>(
                limitBytes,
                BodySubscribers.mapping(writing, written -> hashing.hash().toString()));
    }

    /** Returns a body that nobody wants; so that its connection can be used again it is read, if it is short. */
    static <T> BoundedBody<T> ignored(int limitBytes) {
        return new BoundedBody<>(limitBytes, BodySubscribers.replacing(null));
    }

    @Override
    public CompletionStage<T> getBody() {
        return target.getBody();
    }

    @Override
    public void onSubscribe(Flow.Subscription given) {
        source = given;
        target.onSubscribe(given);
    }

    @Override
    public void onNext(List<ByteBuffer> buffers) {
        if (source == null) {
            return;
        }
        touch();
        long sum = bytes;
        for (ByteBuffer buffer : buffers) {
            sum += buffer.remaining();
        }
        bytes = sum;
        if (sum > limitBytes) {
            fail(source, new TooLongException(limitBytes));
            return;
        }
        try {
            target.onNext(buffers);
        } catch (SinkException e) {
            fail(source, e);
        }
    }

    private void fail(Flow.Subscription ending, Exception e) {
        source = null;
        ending.cancel();
        target.onError(e);
    }

    @Override
    public void onError(Throwable error) {
        target.onError(error);
    }

    @Override
    public void onComplete() {
        target.onComplete();
    }

    /** Notes that the far side is alive. */
    void touch() {
        lastNs = System.nanoTime();
    }

    /** Returns when something came last, by {@link System#nanoTime}. */
    long lastNs() {
        return lastNs;
    }

    /** Returns how many bytes came. */
    public long received() {
        return bytes;
    }
}
