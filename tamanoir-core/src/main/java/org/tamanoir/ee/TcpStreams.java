package org.tamanoir.ee;

import java.net.InetSocketAddress;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.admission.Places;
import org.tamanoir.admission.StreamRefusal;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.catalog.ServiceFetches;
import org.tamanoir.catalog.Transit;
import org.tamanoir.platform.ThreadKind;
import org.tamanoir.routing.Addresses;
import org.tamanoir.service.Service;
import org.tamanoir.service.StreamInfo;
import org.tamanoir.supervision.InstanceFactory;
import org.tamanoir.traffic.StreamRecord;
import org.tamanoir.traffic.Traffic;
import org.tamanoir.transport.TcpConnection;

/**
 * Begins TCP streams and their branches, as far as there are places.
 *
 * <p>Thread contract: any thread, but for what is said.
 */
final class TcpStreams implements TcpStream.Node {
    private static final Logger LOG = LoggerFactory.getLogger(TcpStreams.class);
    private final NodeContext context;
    private final Instances instances;
    private final Places places;
    private final ServiceFetches missing;
    private final InstanceFactory maker;
    private final List<Consumer<StreamRecord>> logs = new CopyOnWriteArrayList<>();
    private volatile boolean stopping;

    TcpStreams(NodeContext context, Instances instances, Places places, ServiceFetches missing, InstanceFactory maker) {
        this.context = context;
        this.instances = instances;
        this.places = places;
        this.missing = missing;
        this.maker = maker;
    }

    /** Tells of each stream that ends, on its thread. */
    void log(Consumer<StreamRecord> told) {
        logs.add(told);
    }

    /** Admits no connection any more. */
    void close() {
        stopping = true;
        places.close();
    }

    /** Returns which threads streams run on. */
    ThreadKind threads() {
        return context.config().threads();
    }

    Places places() {
        return places;
    }

    @Override
    public boolean isStopping() {
        return stopping;
    }

    @Override
    public ServiceFetches missing() {
        return missing;
    }

    @Override
    public InstanceFactory maker() {
        return maker;
    }

    @Override
    public void join(Collection<TcpBranch> ending) {
        instances.join(ending.stream().map(each -> each.instance.handle).toList());
    }

    @Override
    public void streamEnded(StreamRecord record) {
        for (Consumer<StreamRecord> log : logs) {
            try {
                log.accept(record);
            } catch (RuntimeException | Error e) {
                LOG.error("the log of streams failed", e);
            }
        }
    }

    private void free(TcpStream stream) {
        leave(stream.sender());
        DropReason reason = stream.instance.aborted();
        if (reason != null) {
            places.aborted(reason);
        }
    }

    /** Counts a connection in; false when there is no place for it, which is logged. */
    boolean admit(InetSocketAddress peer) {
        StreamRefusal refusal = places.take(peer.getAddress());
        if (refusal != null) {
            LOG.info("TCP {}: refused: {} ({})", Addresses.text(peer), refusal.text(), refusal);
        }
        return refusal == null;
    }

    /** Counts a connection out. */
    void leave(InetSocketAddress peer) {
        places.give(peer.getAddress());
    }

    @Override
    public @Nullable StreamRefusal admitBranch(TcpStream trunk, int before) {
        StreamRefusal refusal = places.takeBranch(trunk.sender().getAddress(), before);
        if (refusal != null) {
            LOG.info("{}: a further service is refused: {} ({})", trunk.thread.name(), refusal.text(), refusal);
        }
        return refusal;
    }

    @Override
    public void leaveBranch(TcpStream trunk) {
        places.giveBranch(trunk.sender().getAddress());
    }

    /**
     * Moves a connection onto a thread of its own, which runs this service. The reception's thread.
     *
     * @param key what its first packet names the service by
     * @param reception counts what the connection brought if it gets no thread
     * @param handedOver run when connection and place are the stream's; before that they are the caller's, also when
     *     this throws
     * @return false when the service has been replaced or taken away since it was found
     */
    boolean openStream(
            TcpConnection connection,
            ServiceDefinition definition,
            long key,
            Service service,
            Traffic reception,
            Runnable handedOver) {
        TcpStream stream;
        try {
            StreamInfo info =
                    new StreamInfo(StreamInfo.Transport.TCP, connection.remoteAddress(), connection.localAddress());
            stream = new TcpStream(context, this, definition, service, connection, info);
        } catch (RuntimeException | Error e) {
            service.dismiss();
            handedOver.run();
            endUnstarted(null, connection, definition, e, reception);
            return true;
        }
        boolean registered = false;
        try {
            if (definition != Transit.DEFINITION) {
                stream.path.keys().begin(key);
            }
            registered = instances.registerIfCurrent(stream.instance.handle, key, () -> free(stream));
        } finally {
            if (!registered) {
                service.dismiss();
                stream.instance.loop.own();
                stream.instance.loop.close();
            }
        }
        if (!registered) {
            return false;
        }
        handedOver.run();
        AtomicBoolean left = new AtomicBoolean();
        try {
            connection.leave(() -> {
                left.set(true);
                instances.startOrEnd(stream.instance.handle);
            });
        } catch (RuntimeException | Error e) {
            if (left.get()) {
                throw e; // It is the stream's own to end.
            }
            service.dismiss();
            endUnstarted(stream, connection, definition, e, reception);
        }
        return true;
    }

    /**
     * Ends a stream that cannot be moved onto its thread. On the thread that has the connection.
     *
     * @param stream if it was registered, so that the place is given back with it
     */
    private void endUnstarted(
            @Nullable TcpStream stream,
            TcpConnection connection,
            ServiceDefinition definition,
            Throwable cause,
            Traffic reception) {
        try {
            context.failures().failed(definition.name(), "its start", cause, "stream closed");
            UnhandledInput.drop(
                    connection,
                    reception,
                    DropReason.NO_INSTANCE,
                    context.config().typeId());
        } finally {
            try {
                connection.onChange(() -> {}); // Its end is no news.
                connection.reset();
            } finally {
                if (stream == null) {
                    leave(connection.remoteAddress());
                } else {
                    instances.ended(stream.instance.handle);
                    stream.instance.loop.own();
                    stream.instance.loop.close();
                }
            }
        }
    }

    @Override
    public @Nullable TcpBranch openBranch(TcpStream trunk, ServiceDefinition definition, long key, Service service) {
        boolean registered = false; // From then on its end gives the place back.
        try {
            TcpBranch branch = TcpBranch.of(context, definition, service, trunk);
            registered = instances.registerIfCurrent(branch.instance.handle, key, () -> leaveBranch(trunk));
            if (!registered) {
                service.dismiss();
                branch.instance.loop.own();
                branch.instance.loop.close();
                branch.free(trunk.instance.traffic);
                leaveBranch(trunk);
                return null;
            }
            return instances.startOrEnd(branch.instance.handle) ? branch : null;
        } catch (RuntimeException | Error e) {
            service.dismiss();
            if (!registered) {
                leaveBranch(trunk);
            }
            context.failures().failed(definition.name(), "its start", e, "packet dropped");
            return null;
        }
    }
}
