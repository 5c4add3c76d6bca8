package org.tamanoir.cluster;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import org.jspecify.annotations.Nullable;

/** An answer's body as text, of bounded length. One thread of the client at a time. */
final class BoundedAnswer implements HttpResponse.BodySubscriber<String> {
    private final int limitOctets;
    private final ByteArrayOutputStream octets = new ByteArrayOutputStream();
    private final CompletableFuture<String> body = new CompletableFuture<>();
    private Flow.@Nullable Subscription subscription;

    BoundedAnswer(int limitOctets) {
        this.limitOctets = limitOctets;
    }

    @Override
    public CompletionStage<String> getBody() {
        return body;
    }

    @Override
    public void onSubscribe(Flow.Subscription given) {
        subscription = given;
        given.request(Long.MAX_VALUE); // The bound below ends it.
    }

    @Override
    public void onNext(List<ByteBuffer> buffers) {
        for (ByteBuffer buffer : buffers) {
            if (body.isDone()) {
                return;
            }
            if (octets.size() + buffer.remaining() > limitOctets) {
                body.completeExceptionally(new IOException("answered more than " + limitOctets + " octets"));
                if (subscription != null) {
                    subscription.cancel();
                }
                return;
            }
            byte[] taken = new byte[buffer.remaining()];
            buffer.get(taken);
            octets.writeBytes(taken);
        }
    }

    @Override
    public void onError(Throwable error) {
        body.completeExceptionally(error);
    }

    @Override
    public void onComplete() {
        body.complete(octets.toString(StandardCharsets.UTF_8));
    }
}
