package org.tamanoir.deploy;

import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Takes an answer's octets up to a limit, whatever its head says: the first octet too many ends the connection.
 *
 * <p>Thread contract: the HTTP client's threads bring octets, one at a time; any thread may {@link #stop}, and nothing
 * reaches the sink after that.
 */
final class BoundedBody implements HttpResponse.BodySubscriber<BoundedBody.End> {
    /** Where the octets go. */
    interface Sink {
        void write(ByteBuffer octets) throws IOException;
    }

    /** How it ended, when neither the network nor the sink failed. */
    enum End {
        WHOLE,
        TOO_LONG
    }

    private final long limitOctets;
    private final Sink sink;
    private final AtomicLong lastProgressNs;
    private final CompletableFuture<End> end = new CompletableFuture<>();
    private Flow.@Nullable Subscription subscription;
    private long octets;
    private boolean stopped;

    /** @param lastProgressNs set to the time whenever octets come */
    BoundedBody(long limitOctets, Sink sink, AtomicLong lastProgressNs) {
        this.limitOctets = limitOctets;
        this.sink = sink;
        this.lastProgressNs = lastProgressNs;
    }

    @Override
    public CompletionStage<End> getBody() {
        return end;
    }

    @Override
    public synchronized void onSubscribe(Flow.Subscription given) {
        subscription = given;
        if (stopped) {
            given.cancel();
        } else {
            given.request(1);
        }
    }

    @Override
    public synchronized void onNext(List<ByteBuffer> buffers) {
        Flow.Subscription source = subscription;
        if (stopped || source == null) {
            return;
        }
        lastProgressNs.set(System.nanoTime());
        try {
            for (ByteBuffer buffer : buffers) {
                long room = limitOctets - octets;
                boolean tooLong = buffer.remaining() > room;
                if (tooLong) {
                    buffer.limit(buffer.position() + (int) room);
                }
                octets += buffer.remaining();
                sink.write(buffer);
                if (tooLong) {
                    stop();
                    end.complete(End.TOO_LONG);
                    return;
                }
            }
        } catch (IOException e) {
            stop();
            end.completeExceptionally(new LocalException(e));
            return;
        }
        source.request(1);
    }

    @Override
    public void onError(Throwable error) {
        end.completeExceptionally(error);
    }

    @Override
    public void onComplete() {
        end.complete(End.WHOLE);
    }

    /** Takes no more, and closes the connection if octets are still to come. */
    synchronized void stop() {
        if (!stopped) {
            stopped = true;
            if (subscription != null && !end.isDone()) {
                subscription.cancel();
            }
        }
    }

    /** How many came to the sink. */
    synchronized long octets() {
        return octets;
    }
}
