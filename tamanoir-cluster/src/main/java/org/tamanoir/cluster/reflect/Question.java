package org.tamanoir.cluster.reflect;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;

/**
 * Something that another thread is to answer. Either it begins, or who asked gives it up: a change that was said to have
 * failed is not made later. Any thread.
 */
final class Question<T> implements Runnable {
    private final Supplier<T> question;
    private final CompletableFuture<T> answer = new CompletableFuture<>();
    private final AtomicBoolean taken = new AtomicBoolean();

    Question(Supplier<T> question) {
        this.question = question;
    }

    @Override
    public void run() {
        if (!taken.compareAndSet(false, true)) {
            return;
        }
        try {
            answer.complete(question.get());
        } catch (RuntimeException | Error e) {
            answer.completeExceptionally(e);
        }
    }

    /**
     * Waits for the answer; for one that has begun at that time as long again.
     *
     * @throws TimeoutException if there is none: nothing was, nor will be, done, unless it says so
     */
    T await(long timeoutMs) throws InterruptedException, ExecutionException, TimeoutException {
        try {
            return answer.get(timeoutMs, TimeUnit.MILLISECONDS);
        } catch (TimeoutException | InterruptedException e) {
            if (taken.compareAndSet(false, true)) {
                throw e;
            }
            if (e instanceof InterruptedException) {
                Thread.currentThread().interrupt();
                throw new TimeoutException("interrupted, it may have been done");
            }
        }
        try {
            return answer.get(timeoutMs, TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            throw new TimeoutException("it has begun and may still be done");
        }
    }
}
