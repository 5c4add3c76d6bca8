package org.tamanoir.ee;

import java.io.IOException;
import java.net.InetAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.FutureTask;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.anep.ServiceKey;
import org.tamanoir.catalog.Origin;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.catalog.ServiceFetches;
import org.tamanoir.catalog.ServiceSource.Answer;
import org.tamanoir.format.FormatSource;
import org.tamanoir.service.ControlHost;
import org.tamanoir.service.Service;
import org.tamanoir.service.ServiceControl;
import org.tamanoir.service.StreamInfo;
import org.tamanoir.supervision.ForeignFailure;

/**
 * The controls of services: makes them, calls them and closes them on threads that can be spared, since a control is
 * foreign code and may not return.
 *
 * <p>Thread contract: any thread but those of services; calls wait, bounded.
 */
final class Controls {
    private static final Logger LOG = LoggerFactory.getLogger(Controls.class);
    /** Calls at once. */
    private static final int MAX_THREADS = 16;

    /** Who asks for services that controls want. */
    private static final Origin SELF = new Origin(InetAddress.getLoopbackAddress(), null, true);

    private final NodeContext context;
    private final ServiceFetches missing;
    private final Executor threads;
    private final Duration patience;
    private final Set<ServiceDefinition> open = new LinkedHashSet<>();

    Controls(NodeContext context, ServiceFetches missing) {
        this.context = context;
        this.missing = missing;
        this.threads = context.platform().newPool("control", MAX_THREADS);
        // A control's init may fetch other services.
        this.patience = context.config().deployTimeout().plus(context.config().makeTimeout());
    }

    /**
     * Makes a service's control, if it has one.
     *
     * @throws IllegalArgumentException why the service cannot be defined: one line of the node's, or those of the control
     */
    void open(ServiceDefinition definition) {
        if (!definition.control().isWanted() || definition.control().get() != null) {
            return;
        }
        ServiceDefinition replaced = context.services().find(definition.key());
        ServiceControl before = replaced == null ? null : replaced.control().get();
        try {
            bounded(patience, () -> {
                definition.control().open(definition.config(), new Host(definition.name()), before);
                return true;
            });
            synchronized (this) {
                open.add(definition);
            }
        } catch (IllegalArgumentException | IllegalStateException e) {
            definition.control().close();
            throw new IllegalArgumentException("service " + definition.label() + ": " + e.getMessage());
        }
    }

    /**
     * Tries whether a service takes its settings, with its control open: over UDP, and where that is refused over TCP.
     *
     * @throws IllegalArgumentException why it does not, as {@link #open} does; over each, where the reasons differ
     */
    void tryOut(ServiceDefinition definition) {
        try {
            tryOut(definition, StreamInfo.Transport.UDP);
        } catch (Overdue e) {
            throw refused(definition, e.getMessage()); // Over TCP it may take as long again.
        } catch (IllegalArgumentException | IllegalStateException overUdp) {
            try {
                tryOut(definition, StreamInfo.Transport.TCP);
            } catch (IllegalArgumentException | IllegalStateException overTcp) {
                @Nullable String udp = overUdp.getMessage();
                @Nullable String tcp = overTcp.getMessage();
                throw refused(definition, Objects.equals(udp, tcp) ? udp : "over UDP: " + udp + "; over TCP: " + tcp);
            }
        }
    }

    private void tryOut(ServiceDefinition definition, StreamInfo.Transport transport) {
        bounded(context.config().makeTimeout(), () -> {
            Throwable failure = new ServiceTrial(context, definition, transport).outcome();
            if (failure instanceof Exception thrown) {
                throw thrown;
            }
            if (failure instanceof Error error) {
                throw error;
            }
            return true;
        });
    }

    private static IllegalArgumentException refused(ServiceDefinition definition, @Nullable String why) {
        return new IllegalArgumentException(
                "service " + definition.label() + ": tried with its settings, init failed: " + why);
    }

    /**
     * Asks a service's control.
     *
     * @throws IllegalArgumentException what it refuses, in its lines
     * @throws IllegalStateException in one line, that there is none, or that it failed or did not answer
     */
    <T> T call(ServiceDefinition definition, Function<ServiceControl, T> call) {
        ServiceControl control = definition.control().get();
        if (control == null) {
            throw new IllegalStateException(
                    "service " + definition.label() + " has no control: there is nothing of it to see or change");
        }
        return bounded(patience, () -> call.apply(control));
    }

    /** Closes a service's control, when its last instance has ended. */
    void close(ServiceDefinition definition) {
        synchronized (this) {
            if (!open.remove(definition)) {
                return;
            }
        }
        try {
            bounded(context.config().makeTimeout(), () -> {
                definition.control().close();
                return true;
            });
        } catch (IllegalArgumentException | IllegalStateException e) {
            LOG.warn("service {}: its control was not closed in order: {}", definition.label(), e.getMessage());
        }
    }

    /** Closes all that are open. */
    void closeAll() {
        List<ServiceDefinition> left;
        synchronized (this) {
            left = new ArrayList<>(open);
        }
        left.forEach(this::close);
    }

    /**
     * Runs foreign code for so long; nothing of what it throws goes on but its text.
     *
     * @throws IllegalArgumentException what it refuses
     * @throws IllegalStateException in one line, what else is wrong
     */
    private <T> T bounded(Duration time, Callable<T> code) {
        FutureTask<T> task = new FutureTask<>(() -> told(code));
        try {
            context.threads()
                    .starter()
                    .run(() -> threads.execute(() -> {
                        context.threads().groups().stayOut();
                        task.run();
                    }));
            return task.get(time.toNanos(), TimeUnit.NANOSECONDS);
        } catch (RejectedExecutionException | IllegalStateException | OutOfMemoryError e) {
            throw new IllegalStateException(
                    MAX_THREADS + " calls of controls are under way already, or the node stops: ask again");
        } catch (TimeoutException e) {
            task.cancel(true);
            throw new Overdue("it did not return within " + time + ": see what it waits for, and ask again");
        } catch (InterruptedException e) {
            task.cancel(true);
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while it was called: the node stops");
        } catch (ExecutionException e) {
            Throwable cause = e.getCause();
            if (cause instanceof IllegalArgumentException refused) {
                throw refused;
            }
            throw new IllegalStateException("it failed: " + (cause == null ? e : cause.getMessage()));
        }
    }

    /**
     * Runs foreign code, and reads what it throws on the same thread: that is foreign too, and may not return.
     *
     * @throws IllegalArgumentException what it refuses
     * @throws IllegalStateException what else it throws, as text
     */
    private static <T> T told(Callable<T> code) {
        try {
            return code.call();
        } catch (Throwable e) {
            String refusal = refusal(e);
            if (refusal != null) {
                throw new IllegalArgumentException(refusal);
            }
            throw new IllegalStateException(ForeignFailure.of(e).toString());
        }
    }

    /** Returns what code refuses, in its lines; null if it does not, or throws again where that is read. */
    private static @Nullable String refusal(Throwable thrown) {
        try {
            return thrown instanceof IllegalArgumentException || thrown instanceof IOException
                    ? thrown.getMessage()
                    : null;
        } catch (Throwable unreadable) {
            return null;
        }
    }

    /** Thrown where foreign code did not return in its time. */
    private static final class Overdue extends IllegalStateException {
        private static final long serialVersionUID = 1L;

        Overdue(String message) {
            super(message);
        }
    }

    /** What a control sees of the node. */
    private final class Host implements ControlHost {
        private final String name;

        Host(String name) {
            this.name = name;
        }

        @Override
        public String serviceName() {
            return name;
        }

        @Override
        public FormatSource formats() {
            return context.formats().source();
        }

        @Override
        public long nanoTime() {
            return context.platform().nanoTime();
        }

        @Override
        public Service instance(String other, Duration timeout) {
            long deadlineNs = System.nanoTime() + timeout.toNanos();
            ServiceDefinition definition = definition(other, timeout);
            Duration left = Duration.ofNanos(Math.max(1, deadlineNs - System.nanoTime()));
            try {
                return bounded(left, definition.factory()::get);
            } catch (IllegalArgumentException | IllegalStateException e) {
                throw new IllegalArgumentException("service " + other + " is not to be had: " + e.getMessage());
            }
        }

        private ServiceDefinition definition(String other, Duration timeout) {
            long key = ServiceKey.of(other);
            ServiceDefinition known = context.services().find(key);
            if (known != null) {
                return known;
            }
            BlockingQueue<Answer> answers = new ArrayBlockingQueue<>(1);
            Consumer<Answer> then = answers::offer;
            missing.request(key, SELF, then);
            Answer answer = null;
            try {
                answer = answers.poll(timeout.toNanos(), TimeUnit.NANOSECONDS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            missing.forget(key, then);
            ServiceDefinition fetched = answer == null ? null : answer.service();
            if (fetched == null) {
                String why = answer == null || answer.refusal() == null
                        ? "no answer in " + timeout
                        : answer.refusal().toString();
                throw new IllegalArgumentException(
                        "service " + other + " is not to be had: " + why + "; deploy it, or put it on the class path");
            }
            return fetched;
        }
    }
}
