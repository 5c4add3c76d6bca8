package org.tamanoir.repository;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.http.HttpResponse.BodySubscriber;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.security.MessageDigest;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import org.jspecify.annotations.Nullable;

/** The body of an answer, which fails as soon as it is longer than it may be. Called as {@link Flow} says. */
final class BoundedBody<T> implements BodySubscriber<T> {
    private final long maxOctets;
    private final Out<T> out;
    private final CompletableFuture<T> body = new CompletableFuture<>();
    private Flow.@Nullable Subscription subscription;
    private long octets;

    /** Where the body goes. */
    interface Out<T> {
        void take(ByteBuffer some) throws IOException;

        T end();
    }

    private BoundedBody(long maxOctets, Out<T> out) {
        this.maxOctets = maxOctets;
        this.out = out;
    }

    /** In memory. */
    static BoundedBody<byte[]> octets(int maxOctets) {
        ByteArrayOutputStream octets = new ByteArrayOutputStream();
        return new BoundedBody<>(maxOctets, new Out<>() {
            @Override
            public void take(ByteBuffer some) {
                byte[] each = new byte[some.remaining()];
                some.get(each);
                octets.writeBytes(each);
            }

            @Override
            public byte[] end() {
                return octets.toByteArray();
            }
        });
    }

    /** Into a file; gives the SHA-256. */
    static BoundedBody<String> file(long maxOctets, FileChannel file) {
        MessageDigest digest = Disk.sha256();
        return new BoundedBody<>(maxOctets, new Out<>() {
            @Override
            public void take(ByteBuffer some) throws IOException {
                digest.update(some.duplicate());
                Disk.write(file, some);
            }

            @Override
            public String end() {
                return Disk.hex(digest.digest());
            }
        });
    }

    @Override
    public CompletionStage<T> getBody() {
        return body;
    }

    @Override
    public void onSubscribe(Flow.Subscription given) {
        subscription = given;
        given.request(1);
    }

    @Override
    public void onNext(List<ByteBuffer> some) {
        try {
            for (ByteBuffer each : some) {
                octets += each.remaining();
                if (octets > maxOctets) {
                    throw new IOException("it sends more than the " + maxOctets + " octets that are allowed here");
                }
                out.take(each);
            }
            if (subscription != null) {
                subscription.request(1);
            }
        } catch (IOException e) {
            if (subscription != null) {
                subscription.cancel();
            }
            body.completeExceptionally(e);
        }
    }

    @Override
    public void onError(Throwable cause) {
        body.completeExceptionally(cause);
    }

    @Override
    public void onComplete() {
        body.complete(out.end());
    }
}
