package org.tamanoir.ee;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Packet;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.service.Service;
import org.tamanoir.service.StreamInfo;
import org.tamanoir.traffic.Traffic;
import org.tamanoir.transport.Buffer;
import org.tamanoir.transport.BufferPool;
import org.tamanoir.transport.NoMemoryException;
import org.tamanoir.transport.ProgressWatch;
import org.tamanoir.transport.ScratchBuffers;

/**
 * A second service of a TCP stream, on its own thread: packets come through a bounded ring from the thread that
 * reads the connection, and answers go back through another. Its packets keep their order among themselves, not
 * against those of the stream's other services.
 *
 * <p>Thread contract: the service's thread, but for what is said to be the stream's.
 */
final class TcpBranch implements Ingress, Instance.Owner, StreamInstance.Flow, StreamWays.WayBack {
    /** Packets handled before next hops are flushed and the ring's room is given back. */
    private static final int BATCH_PACKETS = 512;

    /** Keys by which packets of one stream name one service. */
    private static final int MAX_KEYS = 8;

    final StreamInstance instance;
    final ServiceThread thread;
    final PacketPath path;
    private final Waits waits;
    private final ScratchBuffers memory;
    private final NextHops nextHops;
    private final TcpStream trunk;
    private long[] keys = new long[0];
    private final GrowingRing inbox;
    private final GrowingRing answers;
    /** Of the packet in hand. */
    private Buffer arrivals;

    /** Packets of the ring have been handled, and some may not have left. */
    private boolean isBatchOpen;
    /** One of them waits, or has waited, and more may follow it. */
    private boolean isMidBatch;

    private int batchPackets;

    /** No reply came for the linger time after the end. */
    private boolean hasLingered;

    private boolean freed;
    private volatile boolean inputEnded;
    private volatile boolean ended;
    private boolean over;
    private boolean abandoned;

    /**
     * Makes a branch.
     *
     * @throws NoMemoryException if there is none for its rings
     */
    static TcpBranch of(NodeContext context, ServiceDefinition definition, Service service, TcpStream trunk) {
        BufferPool pool = context.pool();
        GrowingRing inbox = new GrowingRing(
                pool, trunk.instance.memory.owner(), context.config().inboxBytes());
        GrowingRing answers = null;
        try {
            answers = new GrowingRing(pool, trunk.instance.memory.owner(), PacketRing.MIN_BYTES);
            return new TcpBranch(context, definition, service, trunk, inbox, answers);
        } catch (RuntimeException | Error e) {
            inbox.free();
            if (answers != null) {
                answers.free();
            }
            throw e;
        }
    }

    private TcpBranch(
            NodeContext context,
            ServiceDefinition definition,
            Service service,
            TcpStream trunk,
            GrowingRing inbox,
            GrowingRing answers) {
        StreamInfo stream = trunk.thread.stream();
        String name = "tcp " + definition.name() + " " + stream.peer();
        this.instance = new StreamInstance(
                context, definition, service, stream, trunk.instance.gateway, name, this, this, this);
        this.thread = instance.thread;
        this.path = instance.path;
        this.waits = instance.waits;
        this.memory = instance.memory;
        this.nextHops = instance.nextHops;
        this.trunk = trunk;
        this.inbox = inbox;
        this.answers = answers;
        this.arrivals = inbox.memory();
        memory.arrivals(arrivals);
    }

    @Override
    public void serve() {
        thread.initialise();
        boolean goesOn = true;
        while (goesOn && !instance.isOver()) {
            boolean worked = waits.resume() && handleBatch();
            attend();
            path.publish(waits.isParked() ? 1 : 0);
            if (!worked) {
                goesOn = !isAllHandled() && !instance.isOver();
                if (goesOn && !waits.resumed() && !(isBatchOpen && !waits.isParked() && instance.isDrained())) {
                    thread.rest();
                }
            }
        }
        if (!instance.isOver()) {
            finishInput();
        }
    }

    private boolean isAllHandled() {
        return inputEnded && !isBatchOpen && !waits.isParked() && inbox.isEmpty();
    }

    /** Handles packets of the ring, once those before have left; false when there was nothing to do. */
    private boolean handleBatch() {
        boolean worked = isMidBatch;
        if (!isMidBatch) {
            if (isBatchOpen && !endBatch()) {
                return false;
            }
            path.refresh();
            worked = !thread.isPaused() && thread.runDueTasks();
            isBatchOpen |= worked; // What tasks have sent lies in the memory of the batch.
            batchPackets = 0;
        }
        isMidBatch = false;
        while (batchPackets < BATCH_PACKETS
                && !thread.isPaused()
                && !instance.isOver()
                && !waits.isParked()
                && !memory.isFull()
                && inbox.next()) {
            batchPackets++;
            path.refresh();
            isBatchOpen = true;
            Buffer buffer = inbox.memory();
            if (buffer != arrivals) {
                arrivals = buffer;
                memory.arrivals(buffer);
            }
            instance.prove(inbox.proof());
            if (instance.isClosing()) {
                instance.traffic.taken();
                path.drops().drop(DropReason.SERVICE_CLOSED, buffer.nio(), inbox.offset(), inbox.length());
            } else {
                path.handleTaken(buffer.nio(), inbox.offset(), inbox.length());
            }
        }
        isMidBatch = waits.isParked();
        nextHops.flush();
        return batchPackets > 0 || worked;
    }

    /** Gives the ring's room back, if all that was handled has left; returns whether it has. */
    private boolean endBatch() {
        nextHops.flush();
        boolean left = advance();
        if (left) {
            isBatchOpen = false;
            memory.recycle();
            inbox.release();
            trunk.instance.loop.wakeup();
        }
        return left;
    }

    private void finishInput() {
        thread.endOfStream();
        nextHops.flush();
        waits.until(() -> advance() && nextHops.held() == 0);
        if (instance.isOver()) {
            return;
        }
        instance.ways.shutdown();
        // Where answers wait for the trunk the sender is late, which the trunk bounds, and not the next hop.
        ProgressWatch linger = new ProgressWatch(
                instance.loop,
                instance.context.config().lingerTimeout(),
                answers::isReleased,
                instance.ways::repliesSeen,
                () -> hasLingered = true);
        waits.await(() -> {
            instance.ways.relayReplies(this);
            path.publish(0); // What links have granted since the input ended has left.
            linger.watch();
            return hasLingered || instance.ways.repliesEnded();
        });
        instance.awaitOutputEnds(() -> true);
    }

    @Override
    public void attend() {
        instance.ways.relayReplies(this);
        flush();
        instance.watchWaits();
    }

    @Override
    public boolean advance() {
        return instance.ways.advance();
    }

    @Override
    public synchronized void dropRest(DropReason reason) {
        dropInbox(reason);
    }

    @Override
    public void end() {
        leaveRings();
        trunk.instance.loop.execute(() -> trunk.ended(this));
    }

    @Override
    public void leave() {
        DropReason reason = instance.endReason();
        flush();
        waits.await(answers::isReleased); // The trunk bounds that: it cuts its branches when it ends.
        synchronized (this) {
            dropInbox(reason);
            inbox.release();
        }
        thread.closeService();
        instance.closeDepartures(instance.isBroken() || trunk.isSenderCut(), reason);
        memory.recycle();
        path.publish(0);
    }

    /** Its thread uses the rings no more. */
    private synchronized void leaveRings() {
        over = true;
        if (abandoned) {
            free(instance.traffic);
            path.publish(0);
        }
    }

    /** Takes no more; what has come is dropped. Inside the lock. */
    private void dropInbox(DropReason reason) {
        ended = true;
        inbox.dropAll((memory, offset, length) -> {
            instance.traffic.taken();
            path.drops().drop(reason, memory, offset, length);
        });
    }

    @Override
    public Instance trunk() {
        return trunk.trunk();
    }

    /** Returns whether packets that name this key are the branch's. The stream's thread. */
    boolean hasKey(long key) {
        for (long known : keys) {
            if (known == key) {
                return true;
            }
        }
        return false;
    }

    /** Takes packets that name this key too. The stream's thread. */
    void addKey(long key) {
        if (!hasKey(key) && keys.length < MAX_KEYS) {
            keys = Arrays.copyOf(keys, keys.length + 1);
            keys[keys.length - 1] = key;
        }
    }

    /**
     * Puts a packet into the ring; false when it is full. The stream's thread.
     *
     * @param proof of its authenticity
     */
    boolean offer(Packet packet, int proof) {
        synchronized (this) {
            if (ended || !inbox.offer(packet.buffer(), packet.offset(), packet.length(), proof)) {
                return false;
            }
        }
        instance.loop.wakeup();
        return true;
    }

    /** Takes note that no more packets come. The stream's thread. */
    void endInput() {
        inputEnded = true;
        instance.loop.wakeup();
    }

    /** Frees the rings once it is over; answers still in them are dropped and counted here. */
    synchronized void free(Traffic counts) {
        if (!freed) {
            freed = true;
            dropAnswers(counts);
            inbox.free();
            answers.free();
        }
    }

    /** Counts what is left when the stream ends. A service that does not return still uses the rings: they are freed when it does. */
    synchronized void abandon(Traffic counts) {
        abandoned = true;
        if (over) {
            free(counts);
        } else if (thread.isAbandoned()) {
            dropAnswers(counts);
        }
    }

    private void dropAnswers(Traffic counts) {
        answers.dropAll((memory, offset, length) -> {
            counts.taken();
            counts.drop(DropReason.PEER_GONE);
        });
    }

    @Override
    public void leaveBehind(DropReason reason) {
        synchronized (this) {
            dropInbox(reason);
            if (abandoned) {
                dropAnswers(instance.traffic); // The trunk has ended, and counts no more.
            }
        }
        String why = "service " + thread.definition().label() + " does not return";
        trunk.instance.loop.execute(() -> trunk.instance.abort(reason, why));
    }

    /** Returns whether it takes no more. Any thread. */
    boolean isEnded() {
        return ended;
    }

    /**
     * Takes the branch's answers to the sender, as far as that one takes them. The stream's thread.
     *
     * @return whether there were any
     */
    boolean takeAnswers(TcpWayBack back) {
        boolean any = false;
        // A second time when they go on in a larger ring; what comes meanwhile wakes the stream anew.
        for (int round = 0; round < 2 && !answers.isReleased() && back.clear(); round++) {
            any = true;
            answers.release();
            while (answers.next()) {
                trunk.instance.traffic.taken();
                back.add(answers.memory(), answers.offset(), answers.length());
            }
            back.flush();
        }
        if (any) {
            instance.loop.wakeup();
        }
        return any;
    }

    /** Returns whether it has packets that have not left. A guess of the stream's thread. */
    boolean isBusy() {
        return !inbox.isReleased() || !answers.isReleased() || instance.traffic.heldLast() > 0;
    }

    /** Returns whether a packet that was refused does not fit for want of memory. The stream's thread. */
    boolean isStarved() {
        return inbox.isStarved();
    }

    @Override
    public void reply(Packet packet) {
        Answer answer = new Answer(packet);
        if (!answer.advance()) {
            waits.park(answer);
        }
    }

    /** An answer that waits for room in the ring, for as long as the trunk has patience with the sender. */
    private final class Answer implements Wait {
        private final Packet packet;

        Answer(Packet packet) {
            this.packet = packet;
        }

        @Override
        public boolean advance() {
            boolean left = add(memory.holderOf(packet), packet.offset(), packet.length());
            if (!left && answers.isStarved()) {
                path.drop(DropReason.NO_MEMORY, packet);
                return true;
            }
            return left;
        }

        @Override
        public void end(boolean isLate) {
            path.drop(DropReason.PEER_GONE, packet);
        }
    }

    @Override
    public boolean clear() {
        return !thread.isCut();
    }

    @Override
    public boolean add(Buffer buffer, int offset, int bytes) {
        if (!answers.offer(buffer.nio(), offset, bytes)) {
            return false;
        }
        instance.traffic.handed();
        return true;
    }

    @Override
    public void flush() {
        trunk.instance.loop.wakeup();
    }

    @Override
    public long heldBack() {
        return 0;
    }

    @Override
    public boolean adopts(long key) {
        return true;
    }

    @Override
    public void handOver(@Nullable ServiceDefinition other, Packet packet) {
        path.drop(DropReason.UNKNOWN_SERVICE, packet);
    }

    @Override
    public @Nullable DropReason forwardInTransit(Packet packet, long answerBytes) {
        return instance.forwardInTransit(packet);
    }

    @Override
    public void closing(String why) {
        trunk.instance.loop.execute(() -> trunk.instance.close(why));
    }

    @Override
    public void aborted(DropReason reason, String why) {
        trunk.instance.loop.execute(() -> trunk.instance.abort(reason, why));
    }
}
