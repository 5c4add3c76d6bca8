package org.tamanoir.ee;

import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.anep.Anep;
import org.tamanoir.anep.DropReason;
import org.tamanoir.anep.Framing;
import org.tamanoir.anep.ServiceKey;
import org.tamanoir.service.FailurePolicy;
import org.tamanoir.service.Service;
import org.tamanoir.transport.Buffer;
import org.tamanoir.transport.BufferPool;
import org.tamanoir.transport.TcpConnection;

/**
 * A connection whose first header is not whole yet, or whose service is not there yet: the way from the first octets
 * to a {@link TcpStream}, or to the refusal.
 *
 * <p>Thread contract: the reception's thread.
 */
final class Newcomer {
    private static final Logger LOG = LoggerFactory.getLogger(ExecutionEnvironment.class);
    private static final String TLS_ON_PLAIN = " (it begins TLS, but this address speaks plain TCP)";
    /** To open a stream with a service that is replaced each time. */
    private static final int MAX_ATTEMPTS = 10;

    private final ExecutionEnvironment environment;
    private final Reception reception;
    private final Traffic traffic;
    private final TcpConnection connection;
    private final long acceptedNs = System.nanoTime();
    private long key;
    private int attempts;
    private @Nullable Consumer<ServiceSource.Answer> fetching;

    Newcomer(ExecutionEnvironment environment, Reception reception, Traffic traffic, TcpConnection connection) {
        this.environment = environment;
        this.reception = reception;
        this.traffic = traffic;
        this.connection = connection;
    }

    /** Looks whether the first header has come whole. */
    void look() {
        Buffer input = connection.input();
        int octets = connection.end() - connection.start();
        if (input != null && octets >= Anep.BASIC_HEADER_OCTETS) {
            int start = connection.start();
            DropReason fault = Framing.fault(input.nio(), start);
            if (fault != null) {
                reception.hasSpoken(this);
                refuse(octets, fault);
                return;
            }
            if (octets >= Framing.claimedHeaderLength(input.nio(), start)) {
                reception.hasSpoken(this);
                key = Framing.serviceKey(
                        input.nio(), start, environment.config().typeId());
                admit();
                return;
            }
        }
        if (connection.inputEnded() || connection.failure() != null) {
            reception.hasSpoken(this);
            leave();
        }
    }

    private void admit() {
        ServiceDefinition definition = key == ServiceKey.NONE
                ? Transit.DEFINITION
                : environment.services().find(key);
        if (definition != null) {
            open(definition);
            return;
        }
        DropReason refusal = environment.missing().refusal(key);
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
                                environment.config().typeId()));
        Consumer<ServiceSource.Answer> then = answer -> reception.loop().execute(() -> answered(answer));
        fetching = then;
        environment.missing().streamWaits();
        environment.missing().request(key, origin, then);
    }

    private void hold() {
        reception.hold(this);
        connection.onChange(this::lookAfterPeer);
        lookAfterPeer();
    }

    /**
     * A sender that has ended still gets what it sent through; one whose connection broke does not. Only who reads
     * learns of that, so a little is read.
     */
    private void lookAfterPeer() {
        if (connection.failure() != null) {
            LOG.info("TCP {}: gone while it waited for its service", connection.remoteAddress());
            abandon(DropReason.PEER_GONE);
        } else {
            connection.wantInput(
                    !connection.inputEnded() && connection.end() - connection.start() < BufferPool.SMALL_OCTETS);
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
            environment.missing().forget(key, then);
            environment.missing().streamWaitsNoMore();
        }
    }

    private void unknown(DropReason reason) {
        if (environment.config().unknownService() == FailurePolicy.CLOSE) {
            LOG.info("TCP {}: refused: {}", connection.remoteAddress(), reason);
            abandon(reason);
        } else {
            // Its packets are dropped, or passed, one by one: later ones may ask for another service.
            open(Transit.DEFINITION);
        }
    }

    private void open(ServiceDefinition found) {
        ServiceDefinition definition = ExecutionEnvironment.entrance(found);
        if (definition == Transit.DEFINITION) {
            made(definition, new Transit(), null);
            return;
        }
        hold();
        if (!reception.isHolding(this)) {
            return;
        }
        environment
                .maker()
                .make(
                        definition,
                        (service, failure) -> reception.loop().execute(() -> made(definition, service, failure)));
    }

    private void made(ServiceDefinition definition, @Nullable Service service, @Nullable Throwable failure) {
        if (definition != Transit.DEFINITION && !reception.isHolding(this)) {
            return;
        }
        if (service == null) {
            if (failure != null) {
                environment.incidents().failed(definition, "its constructor", failure, "stream closed");
            }
            abandon(DropReason.NO_INSTANCE);
        } else if (environment.running().openStream(connection, definition, key, service, traffic)) {
            reception.holdNoMore(this); // From here on it is the stream's.
        } else if (++attempts < MAX_ATTEMPTS) {
            admit(); // The service was replaced or taken away meanwhile.
        } else {
            abandon(DropReason.NO_INSTANCE);
        }
    }

    private void refuse(int octets, DropReason reason) {
        LOG.info("TCP {}: refused: {}{}", connection.remoteAddress(), reason, beginsTls() ? TLS_ON_PLAIN : "");
        traffic.in(octets);
        traffic.drop(reason, connection.remoteAddress(), ServiceKey.NONE, octets);
        connection.consumed(connection.end());
        close();
    }

    /** Ends with packets that were not handled. */
    void abandon(DropReason reason) {
        reception.holdNoMore(this);
        endFetch();
        TcpInput.drop(connection, traffic, reason, environment.config().typeId());
        connection.onChange(() -> {}); // Its end would come as news.
        connection.reset();
        environment.running().leave();
    }

    /** Whether what came could be the first octets of TLS: a handshake record (RFC 8446, section 5.1). */
    private boolean beginsTls() {
        Buffer input = connection.input();
        int start = connection.start();
        return input != null
                && connection.end() - start >= 2
                && input.nio().get(start) == 22
                && input.nio().get(start + 1) == 3;
    }

    /** Ends without a header. */
    void leave() {
        if (!connection.isConnected()) {
            String failure = connection.failure();
            LOG.info(
                    "TCP {}: refused: {}",
                    connection.remoteAddress(),
                    failure == null ? "TLS handshake: not over in time" : failure);
        }
        int octets = connection.end() - connection.start();
        if (octets > 0) {
            refuse(octets, DropReason.TRUNCATED);
        } else {
            close();
        }
    }

    private void close() {
        connection.onChange(() -> {}); // Its end would come as news.
        connection.close();
        environment.running().leave();
    }

    /** Closes the connection when the thread ends, with whatever came. */
    void closeUncounted() {
        connection.close();
    }

    /** Whether it was accepted later than at {@code ns}. */
    boolean isYoungerThan(long ns) {
        return acceptedNs - ns > 0;
    }
}
