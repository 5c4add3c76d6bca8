package org.tamanoir.ee;

import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Anep;
import org.tamanoir.anep.Framing;
import org.tamanoir.anep.ParseFault;
import org.tamanoir.anep.ServiceKey;
import org.tamanoir.catalog.Origin;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.catalog.ServiceSource;
import org.tamanoir.catalog.Transit;
import org.tamanoir.service.FailurePolicy;
import org.tamanoir.service.Service;
import org.tamanoir.service.StreamInfo;
import org.tamanoir.supervision.Incidents;
import org.tamanoir.supervision.InstanceFactory;
import org.tamanoir.traffic.Traffic;
import org.tamanoir.transport.Buffer;
import org.tamanoir.transport.BufferPool;
import org.tamanoir.transport.StreamGateway;
import org.tamanoir.transport.TcpConnection;

/**
 * A connection whose first header is not whole yet, or whose service is not there yet: the way from the first bytes
 * to a {@link TcpStream}, or to the refusal. Where packets are authenticated the whole first packet is waited for, and
 * judged before its service is looked up.
 *
 * <p>Thread contract: the reception's thread.
 */
final class PendingConnection {
    private static final Logger LOG = LoggerFactory.getLogger(PendingConnection.class);
    private static final String TLS_ON_PLAIN = " (it begins TLS, but this address speaks plain TCP)";
    /** To open a stream with a service that is replaced each time. */
    private static final int MAX_ATTEMPTS = 10;

    private final NodeContext context;
    private final TcpStreams streams;
    private final Acceptor reception;
    private final Traffic traffic;
    private final TcpConnection connection;
    private final long acceptedNs;
    private long key;
    private int attempts;
    /** The connection and its place are somebody else's, or nobody's: set once, by who passes them on or ends them. */
    private boolean over;

    private @Nullable Consumer<ServiceSource.Answer> fetching;
    /** The instance that is being made, until it has come. */
    private @Nullable Order order;

    private record Order(ServiceDefinition definition, InstanceFactory.Outcome then) {}

    PendingConnection(
            NodeContext context, TcpStreams streams, Acceptor reception, Traffic traffic, TcpConnection connection) {
        this.context = context;
        this.streams = streams;
        this.acceptedNs = context.platform().nanoTime();
        this.reception = reception;
        this.traffic = traffic;
        this.connection = connection;
    }

    /** Looks whether the first header has come whole. */
    void look() {
        guarded(this::lookForHeader);
    }

    /** Takes a step; what fails by a fault of the node, or for want of memory, ends this connection and no other. */
    private void guarded(Runnable step) {
        try {
            step.run();
        } catch (Throwable e) {
            reception.failed(e);
            abandon(DropReason.NO_INSTANCE);
        }
    }

    private void lookForHeader() {
        if (context.sapf().takes(connection)) {
            return; // It comes round when packets have been made of what came.
        }
        Buffer input = connection.input();
        int bytes = connection.end() - connection.start();
        if (input != null && bytes >= Anep.BASIC_HEADER_OCTETS) {
            int start = connection.start();
            ParseFault fault = Framing.fault(input.nio(), start);
            if (fault != null) {
                reception.hasSpoken(this);
                refuse(bytes, DropReason.of(fault));
                return;
            }
            boolean isGuarded = reception.guard().isOn();
            int wanted = isGuarded
                    ? Framing.claimedLength(input.nio(), start)
                    : Framing.claimedHeaderLength(input.nio(), start);
            if (bytes >= wanted) {
                reception.hasSpoken(this);
                DropReason refusal = isGuarded ? reception.guard().refusal(input.nio(), start, wanted) : null;
                if (refusal != null) {
                    refuse(bytes, refusal);
                    return;
                }
                key = Framing.serviceKey(input.nio(), start, context.config().typeId());
                admit();
                return;
            }
        }
        if (connection.inputEnded() || connection.failure() != null) {
            reception.hasSpoken(this);
            endWithoutHeader();
        }
    }

    private void admit() {
        ServiceDefinition definition =
                key == ServiceKey.NONE ? Transit.DEFINITION : context.services().find(key);
        if (definition != null) {
            open(definition);
            return;
        }
        DropReason refusal =
                streams.missing().refusal(key, connection.remoteAddress().getAddress());
        if (refusal != null) {
            unknown(refusal);
        } else {
            fetch();
        }
    }

    /** Waits for code. Next to nothing is read meanwhile, so that the sender waits as well. */
    private void fetch() {
        hold();
        if (!reception.isHolding(this)) {
            return;
        }
        Buffer input = connection.input();
        Origin origin = new Origin(
                connection.remoteAddress().getAddress(),
                input == null
                        ? null
                        : Framing.previousNode(
                                input.nio(),
                                connection.start(),
                                context.config().typeId()),
                true);
        Consumer<ServiceSource.Answer> then = answer -> reception.loop().execute(() -> guarded(() -> answered(answer)));
        fetching = then;
        streams.missing().streamWaits();
        streams.missing().request(key, origin, then);
    }

    private void hold() {
        reception.hold(this);
        connection.onChange(() -> guarded(this::lookAfterPeer));
        lookAfterPeer();
    }

    /**
     * Looks whether the sender's connection broke: one that has only ended still gets what it sent through. Only who
     * reads learns of that, so a little is read.
     */
    private void lookAfterPeer() {
        if (connection.failure() != null) {
            LOG.info("TCP {}: gone while it waited for its service", connection.remoteAddress());
            abandon(DropReason.PEER_GONE);
        } else {
            connection.wantInput(
                    !connection.inputEnded() && connection.end() - connection.start() < BufferPool.SMALL_BYTES);
        }
    }

    private void answered(ServiceSource.Answer answer) {
        endFetch();
        if (!reception.isHolding(this)) {
            return;
        }
        ServiceDefinition definition = answer.service();
        if (definition != null) {
            open(definition);
        } else {
            unknown(answer.refusal() == null ? DropReason.UNKNOWN_SERVICE : answer.refusal());
        }
    }

    private void endFetch() {
        Consumer<ServiceSource.Answer> then = fetching;
        if (then != null) {
            fetching = null;
            streams.missing().forget(key, then);
            streams.missing().streamWaitsNoMore();
        }
    }

    private void unknown(DropReason reason) {
        // Octets that were passed or dropped for a while would be a hole in what a gateway carries.
        boolean breaks = connection.gateway() == null
                ? context.config().unknownService() == FailurePolicy.CLOSE
                : !goesOnWithout();
        if (breaks) {
            LOG.info("TCP {}: refused: {}", connection.remoteAddress(), reason);
            abandon(reason);
        } else {
            // Its packets are dropped, or passed, one by one: later ones may ask for another service.
            open(Transit.DEFINITION);
        }
    }

    /** Returns whether it goes on as it comes, from its first octet to the last, where its service cannot be had. */
    private boolean goesOnWithout() {
        StreamGateway gateway = connection.gateway();
        return gateway != null && gateway.onFailure() == FailurePolicy.PASS;
    }

    private void open(ServiceDefinition found) {
        ServiceDefinition definition = found.entrance();
        if (definition == Transit.DEFINITION) {
            made(definition, InstanceFactory.newTransit(streams.threads()), null);
            return;
        }
        hold();
        if (!reception.isHolding(this)) {
            return;
        }
        InstanceFactory.Outcome then = (service, failure) -> {
            boolean running = reception.loop().execute(() -> guarded(() -> made(definition, service, failure)));
            if (!running && service != null) {
                service.dismiss();
            }
        };
        order = new Order(definition, then);
        streams.maker().make(definition, streams.threads(), then);
    }

    private void made(ServiceDefinition definition, @Nullable Service service, @Nullable Throwable failure) {
        order = null;
        if (definition != Transit.DEFINITION && !reception.isHolding(this)) {
            if (service != null) {
                service.dismiss();
            }
            return;
        }
        if (service == null) {
            if (failure != null) {
                context.incidents()
                        .failed(
                                definition,
                                StreamInfo.Transport.TCP,
                                Incidents.CONSTRUCTOR,
                                failure,
                                goesOnWithout() ? "stream goes on" : "stream closed");
            }
            if (goesOnWithout()) {
                open(Transit.DEFINITION);
            } else {
                abandon(DropReason.NO_INSTANCE);
            }
        } else if (!streams.openStream(connection, definition, key, service, traffic, this::handedOver)) {
            if (++attempts < MAX_ATTEMPTS) {
                admit(); // The service was replaced or taken away meanwhile.
            } else {
                abandon(DropReason.NO_INSTANCE);
            }
        }
    }

    /** Leaves connection and place to the stream. */
    private void handedOver() {
        over = true;
        reception.forget(this);
    }

    private void refuse(int bytes, DropReason reason) {
        LOG.info("TCP {}: refused: {}{}", connection.remoteAddress(), reason, beginsTls() ? TLS_ON_PLAIN : "");
        if (!beginsEnd()) {
            return;
        }
        try {
            traffic.in(bytes);
            traffic.drop(reason, connection.remoteAddress(), ServiceKey.NONE, bytes);
            connection.consumed(connection.end());
        } finally {
            if (connection.gateway() == null) {
                close();
            } else {
                reset(); // To a gateway's sender an end in order would say that all has arrived.
            }
        }
    }

    private void close() {
        try {
            connection.close();
        } finally {
            streams.leave(connection.remoteAddress());
        }
    }

    /** Ends with packets that were not handled. */
    void abandon(DropReason reason) {
        if (!beginsEnd()) {
            return;
        }
        try {
            endFetch();
            UnhandledInput.drop(connection, traffic, reason, context.config().typeId());
        } finally {
            reset();
        }
    }

    private void reset() {
        try {
            connection.reset();
        } finally {
            streams.leave(connection.remoteAddress());
        }
    }

    /** Begins the end; true for the one caller who is to give the place back. */
    private boolean beginsEnd() {
        if (over) {
            return false;
        }
        over = true;
        reception.forget(this);
        if (order != null) {
            streams.maker().cancel(order.definition, order.then);
            order = null;
        }
        connection.onChange(() -> {}); // Its end would come as news.
        return true;
    }

    /** Returns whether what came could be the first bytes of TLS: a handshake record (RFC 8446, section 5.1). */
    private boolean beginsTls() {
        Buffer input = connection.input();
        int start = connection.start();
        return input != null
                && connection.end() - start >= 2
                && input.nio().get(start) == 22
                && input.nio().get(start + 1) == 3;
    }

    /** Ends without a header, which has not come in time. */
    void leave() {
        guarded(this::endWithoutHeader);
    }

    /**
     * Ends since the node stops. Also what seems to have sent nothing may have it on its way, and an orderly end would
     * say that it has been handled.
     */
    void cut() {
        guarded(() -> abandon(DropReason.SHUTDOWN));
    }

    private boolean hasBegunPacket() {
        return connection.end() > connection.start() || connection.hasPart();
    }

    private void endWithoutHeader() {
        if (!connection.isConnected()) {
            String failure = connection.failure();
            LOG.info(
                    "TCP {}: refused: {}",
                    connection.remoteAddress(),
                    failure == null ? "TLS handshake: not over in time" : failure);
        }
        if (connection.isStarved()) {
            LOG.info("TCP {}: closed: {} ({})", connection.remoteAddress(), connection.failure(), DropReason.NO_MEMORY);
            streams.places().aborted(DropReason.NO_MEMORY);
        }
        if (hasBegunPacket()) {
            refuse(
                    connection.end() - connection.start(),
                    connection.isStarved() ? DropReason.NO_MEMORY : DropReason.TRUNCATED);
        } else if (beginsEnd()) {
            close();
        }
    }

    /** Returns whether it was accepted later than at {@code ns}. */
    boolean isYoungerThan(long ns) {
        return acceptedNs - ns > 0;
    }
}
