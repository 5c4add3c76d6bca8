package org.tamanoir.message;

import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.tamanoir.format.Format;
import org.tamanoir.format.FormatException;
import org.tamanoir.message.MessageSettings.Policy;

/**
 * The calls of a service's handler: a message comes, is converted where the handler wants that, and goes on, or ends and is
 * counted.
 *
 * <p>Thread contract: the service's thread.
 */
final class HandlerCalls {
    private final Bindings bindings;
    private final MessagePath.Node node;
    private final MessageCounts counts;
    private final Exit exit;
    private final boolean passesUnfit;
    private final boolean passesFailed;
    private final Message converted = new Message();
    private @Nullable String dropReason;
    private @Nullable RuntimeException fault;
    private boolean failureReported;

    HandlerCalls(Bindings bindings, MessageSettings settings, MessagePath.Node node, MessageCounts counts, Exit exit) {
        this.bindings = bindings;
        this.node = node;
        this.counts = counts;
        this.exit = exit;
        passesUnfit = settings.other() == Policy.PASS;
        passesFailed = settings.failure() == Policy.PASS;
    }

    /** Gives a message to the handler; returns what goes on, null if it has ended, which is counted then. */
    @Nullable
    Message decide(Message came) {
        Bindings.Binding binding = binding(came.format());
        Bound bound = binding.bound();
        exit.begin();
        exit.charge(Objects.requireNonNull(came.allowance()));
        Message subject = came;
        Outcome outcome;
        boolean returned = false;
        try {
            if (bound == null) {
                outcome = passesUnfit ? Outcome.FORWARD : exit.drop(MessageReason.UNFIT.name());
            } else {
                if (binding.conversion() != null) {
                    int bytes = binding.conversion().convert(came.record());
                    Format target = binding.conversion().target();
                    subject = converted.wrapLike(
                            came, target, binding.conversion().memory(), 0, bytes);
                }
                outcome =
                        Objects.requireNonNull(bound.handle(subject, exit), "handle returned null: return an Outcome");
            }
            returned = true;
        } catch (FormatException e) {
            outcome = exit.drop(MessageReason.RECORD.name());
            returned = true;
        } catch (Exception e) {
            if (e == fault) {
                throw (RuntimeException) e;
            }
            returned = true;
            report(e);
            outcome = exit.drop(MessageReason.FAILED.name());
            if (passesFailed) {
                exit.begin();
                subject = came;
                outcome = Outcome.FORWARD;
            }
        } finally {
            if (!returned) {
                counts.dropped(MessageReason.FAILED.name(), 1);
            }
        }
        Message going = settle(outcome, subject);
        if (going != null && going != came) {
            exit.publish(going.format());
        }
        return going;
    }

    private @Nullable Message settle(Outcome outcome, Message subject) {
        dropReason = null;
        switch (outcome) {
            case FORWARD -> {
                if (exit.ports != 0) {
                    return exit.replacement != null ? exit.replacement : subject;
                }
                dropReason = MessageReason.NO_PORT.name();
            }
            case DROP -> dropReason = exit.reason;
            case HOLD -> counts.held(1);
            case MERGE -> counts.merged(1);
        }
        if (dropReason != null) {
            counts.dropped(dropReason, 1);
        }
        return null;
    }

    /** Returns why the message of the last call was dropped; null if it was not. */
    @Nullable
    String dropReason() {
        return dropReason;
    }

    /** Takes note of what the node has thrown in a handler's call, which is none of the handler's failures. */
    void nodeThrew(RuntimeException thrown) {
        fault = thrown;
    }

    private Bindings.Binding binding(Format format) {
        try {
            return bindings.of(format);
        } catch (RuntimeException e) {
            report(e);
            return Bindings.UNFIT;
        }
    }

    /** Has the node count and log what the handler threw, by a task that throws it: no packet is at fault. */
    private void report(Exception failure) {
        if (!failureReported) {
            failureReported = true;
            node.after(Duration.ZERO, () -> {
                failureReported = false;
                throw failure instanceof RuntimeException known ? known : new IllegalStateException(failure);
            });
        }
    }
}
