package org.tamanoir.cluster;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import org.jspecify.annotations.Nullable;

/** Takes an answer's octets up to a limit, whatever its head says. The HTTP client's threads, one at a time. */
final class MembershipBody implements HttpResponse.BodySubscriber<byte[]> {
    static final int LIMIT_OCTETS = 1 << 20;

    private final ByteArrayOutputStream octets = new ByteArrayOutputStream();
    private final CompletableFuture<byte[]> whole = new CompletableFuture<>();
    private Flow.@Nullable Subscription subscription;

    @Override
    public CompletionStage<byte[]> getBody() {
        return whole;
    }

    @Override
    public void onSubscribe(Flow.Subscription given) {
        subscription = given;
        given.request(Long.MAX_VALUE);
    }

    @Override
    public void onNext(List<ByteBuffer> buffers) {
        for (ByteBuffer buffer : buffers) {
            if (whole.isDone()) {
                return;
            }
            if (buffer.remaining() > LIMIT_OCTETS - octets.size()) {
                whole.completeExceptionally(new IOException("it sends more than 1 MiB"));
                if (subscription != null) {
                    subscription.cancel();
                }
                return;
            }
            byte[] part = new byte[buffer.remaining()];
            buffer.get(part);
            octets.writeBytes(part);
        }
    }

    @Override
    public void onError(Throwable error) {
        whole.completeExceptionally(error);
    }

    @Override
    public void onComplete() {
        whole.complete(octets.toByteArray());
    }
}
