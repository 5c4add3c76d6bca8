package org.tamanoir.ee;

import java.time.Duration;
import java.util.Arrays;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.anep.DropReason;
import org.tamanoir.anep.Packet;
import org.tamanoir.service.Service;
import org.tamanoir.transport.Buffer;
import org.tamanoir.transport.BufferPool;

/**
 * A second service of a TCP stream, on its own thread: packets come through a bounded ring from the thread that
 * reads the connection, and answers go back through another. Its packets keep their order among themselves, not
 * against those of the stream's other services.
 *
 * <p>Thread contract: the service's thread, but for what is said to be the stream's.
 */
final class TcpBranch extends StreamInstance {
    private static final Logger LOG = LoggerFactory.getLogger(ExecutionEnvironment.class);
    /** Packets handled before next hops are flushed and the ring's room is given back. */
    private static final int BATCH_PACKETS = 512;

    /** Keys by which packets of one stream name one service. */
    private static final int MAX_KEYS = 8;

    private final TcpStream trunk;
    private long[] keys = new long[0];
    private final Buffer inboxMemory;
    private final Buffer answersMemory;
    private final PacketRing inbox;
    private final PacketRing answers;
    private boolean freed;
    private volatile boolean inputEnded;
    private volatile boolean ended;
    private boolean over;
    private boolean abandoned;

    TcpBranch(ExecutionEnvironment environment, ServiceDefinition definition, Service service, TcpStream trunk) {
        super(
                environment,
                definition,
                service,
                trunk.stream(),
                "tcp " + definition.name() + " " + trunk.stream().peer());
        this.trunk = trunk;
        int octets = environment.config().inboxOctets();
        this.inboxMemory = environment.pool().take(octets, octets);
        this.answersMemory = environment.pool().take(BufferPool.LARGE_OCTETS, PacketRing.MIN_OCTETS);
        this.inbox = new PacketRing(inboxMemory);
        this.answers = new PacketRing(answersMemory);
        memory.arrivals(inboxMemory);
    }

    @Override
    public void run(Service service) {
        loop.own();
        try {
            initialise();
            while (!isCut() && aborted() == null) {
                refresh();
                boolean worked = !isPaused() && runDueTasks();
                worked |= handleBatch();
                relayReplies();
                watchLinks();
                publish();
                if (!worked) {
                    if (inputEnded && inbox.isEmpty()) {
                        break;
                    }
                    rest();
                }
            }
            if (aborted() == null && !isCut()) {
                finishInput();
            }
        } catch (Abandoned e) {
            LOG.info("{}: {}", thread().getName(), e.getMessage());
        } catch (Throwable e) {
            LOG.error("{}: the stream ends by a fault of the node", thread().getName(), e);
            abort(DropReason.SERVICE_FAILURE, "a fault of the node");
        } finally {
            finish();
        }
    }

    private boolean handleBatch() {
        int packets = 0;
        while (packets < BATCH_PACKETS && !isPaused() && aborted() == null && inbox.next()) {
            packets++;
            refresh();
            handleTaken(inbox.memory().nio(), inbox.offset(), inbox.length());
        }
        drain();
        if (packets > 0) {
            memory.recycle();
            inbox.release();
            trunk.loop.wakeup();
        }
        return packets > 0;
    }

    private void finishInput() {
        endOfStream();
        drain();
        if (awaitLink(() -> departures.held() == 0, 0) != null) {
            return;
        }
        shutdownDepartures();
        Duration linger = environment().config().lingerTimeout();
        long seen;
        do {
            seen = repliesSeen();
            long before = seen;
            await(
                    () -> {
                        relayReplies();
                        return repliesEnded() || repliesSeen() != before;
                    },
                    linger);
        } while (!repliesEnded() && repliesSeen() != seen && !isCut());
        awaitOutputEnds(() -> true);
    }

    private void finish() {
        openGate();
        DropReason reason = endReason();
        flushBack();
        await(answers::isReleased, environment().config().lingerTimeout());
        synchronized (this) {
            dropInbox(reason);
            inbox.release();
        }
        closeService();
        closeDepartures(reason, trunk.isSenderCut());
        memory.recycle();
        synchronized (this) {
            over = true;
            if (abandoned) {
                free(traffic);
            }
        }
        publish();
        trunk.loop.execute(() -> trunk.ended(this));
        loop.close();
        environment().running().ended(this);
    }

    /** Takes no more; what has come is dropped. Inside the lock. */
    private void dropInbox(DropReason reason) {
        ended = true;
        while (inbox.next()) {
            traffic.taken();
            drop(reason, inboxMemory.nio(), inbox.offset(), inbox.length());
        }
    }

    // ---- the stream's side -----------------------------------------------------------------------------------------

    TcpStream trunk() {
        return trunk;
    }

    /** Whether packets that name this key are the branch's. The stream's thread. */
    boolean hasKey(long key) {
        for (long known : keys) {
            if (known == key) {
                return true;
            }
        }
        return false;
    }

    /** The stream's thread. */
    void addKey(long key) {
        if (!hasKey(key) && keys.length < MAX_KEYS) {
            keys = Arrays.copyOf(keys, keys.length + 1);
            keys[keys.length - 1] = key;
        }
    }

    /** Puts a packet into the ring; false when it is full. The stream's thread. */
    boolean offer(Packet packet) {
        synchronized (this) {
            if (ended || !inbox.offer(packet.buffer(), packet.offset(), packet.length(), 0, 0, 0)) {
                return false;
            }
        }
        loop.wakeup();
        return true;
    }

    /** No more packets come. The stream's thread. */
    void endInput() {
        inputEnded = true;
        loop.wakeup();
    }

    /** Frees the rings once it is over; answers still in them are dropped and counted here. */
    synchronized void free(Traffic counts) {
        if (!freed) {
            freed = true;
            dropAnswers(counts);
            environment().pool().give(inboxMemory);
            environment().pool().give(answersMemory);
        }
    }

    /** The stream ends. A service that does not return still uses the rings: they are freed when it does. */
    synchronized void abandon(Traffic counts) {
        abandoned = true;
        if (over) {
            free(counts);
        } else if (isAbandoned()) {
            dropAnswers(counts);
        }
    }

    private void dropAnswers(Traffic counts) {
        while (answers.next()) {
            counts.taken();
            counts.drop(DropReason.PEER_GONE);
        }
    }

    @Override
    void leaveBehind(DropReason reason) {
        synchronized (this) {
            dropInbox(reason);
        }
        String why = "service " + definition().label() + " does not return";
        trunk.loop.execute(() -> trunk.abort(reason, why));
    }

    /** Whether it takes no more. Any thread. */
    boolean isEnded() {
        return ended;
    }

    /** Takes the branch's answers to the sender, as far as that one takes them. The stream's thread. */
    void takeAnswers(TcpStream stream) {
        if (answers.isReleased() || !stream.canSendBack()) {
            return;
        }
        answers.release();
        boolean any = false;
        while (answers.next()) {
            any = true;
            stream.traffic.taken();
            stream.sendBack(answersMemory, answers.offset(), answers.length());
        }
        if (any) {
            stream.flushBack();
            if (stream.canSendBack()) {
                answers.release();
            }
        }
        loop.wakeup();
    }

    // ---- answers ---------------------------------------------------------------------------------------------------

    @Override
    void reply(Packet packet) {
        Buffer buffer = memory.holderOf(packet);
        flushBack();
        Duration stall = environment().config().stallTimeout();
        if (!await(() -> sendBack(buffer, packet.offset(), packet.length()), stall)) {
            drop(DropReason.PEER_GONE, packet);
        }
    }

    @Override
    boolean canSendBack() {
        return !isCut();
    }

    @Override
    boolean sendBack(Buffer buffer, int offset, int octets) {
        if (!answers.offer(buffer.nio(), offset, octets, 0, 0, 0)) {
            return false;
        }
        traffic.handed();
        return true;
    }

    @Override
    void flushBack() {
        trunk.loop.wakeup();
    }

    @Override
    long heldBack() {
        return 0;
    }

    @Override
    void handOver(@Nullable ServiceDefinition other, Packet packet) {
        drop(DropReason.UNKNOWN_SERVICE, packet);
    }

    @Override
    void abort(DropReason reason, String why) {
        super.abort(reason, why);
        trunk.loop.execute(() -> trunk.abort(reason, why));
    }

    @Override
    void hold(BooleanSupplier there, Duration bound) {
        departures.flush();
        flushBack();
        publish(1);
        await(
                () -> {
                    settled(); // What links have granted meanwhile leaves.
                    return there.getAsBoolean() || aborted() != null;
                },
                bound);
    }

    @Override
    void serveWayBack() {
        relayReplies();
    }

    @Override
    void excuseSender() {
        // The stream's thread reads.
    }

    @Override
    void holdInput() {
        // The ring holds: when it is full, the stream's thread waits.
    }
}
