package org.tamanoir.ee;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.anep.DropReason;
import org.tamanoir.anep.Packet;
import org.tamanoir.service.Service;
import org.tamanoir.service.StreamInfo;
import org.tamanoir.transport.Buffer;
import org.tamanoir.transport.UdpBatch;
import org.tamanoir.transport.UdpSocket;

/**
 * The one thread that runs a service on all UDP traffic. It reads the ports that no other service uses itself;
 * packets of other ports come through its bounded inbox, and what finds that full is dropped.
 *
 * <p>Thread contract: the service's thread; {@link #offer} any thread.
 */
final class UdpService extends ServiceInstance {
    private static final Logger LOG = LoggerFactory.getLogger(ExecutionEnvironment.class);
    /** Packets of the inbox handled before next hops are flushed. */
    private static final int BATCH_PACKETS = 256;
    /** A batch of this many messages was cut short by its size, or nearly: more may wait already. */
    private static final int FULL_MESSAGES = 16;
    /** Batches between looks at timers and at the end, under a flood. */
    private static final int BATCHES_PER_POLL = 8;

    private final Buffer inboxMemory;
    private final PacketRing inbox;
    private final List<Reading> ports = new ArrayList<>();
    private final Map<UdpSocket, UdpBatch> batches = new HashMap<>();
    private UdpSocket arrivalSocket;
    private long peerHigh;
    private long peerLow;
    private int peerPort;
    private volatile boolean ending;

    UdpService(ExecutionEnvironment environment, ServiceDefinition definition, StreamInfo stream, UdpSocket first) {
        super(environment, definition, stream, "udp " + definition.name());
        int octets = environment.config().inboxOctets();
        this.inboxMemory = environment.pool().take(octets, octets);
        this.inbox = new PacketRing(inboxMemory);
        this.arrivalSocket = first;
    }

    @Override
    public void run(Service service) {
        loop.own();
        try {
            initialise();
            int batch = 0;
            while (!isCut()) {
                boolean worked = readPorts();
                worked |= readInbox();
                worked |= runDueTasks();
                takeFarPackets();
                departures.flush();
                memory.recycle();
                publish();
                if (worked) {
                    if (++batch % BATCHES_PER_POLL == 0) {
                        loop.poll();
                    }
                } else if (ending && inbox.isEmpty()) {
                    break;
                } else {
                    loop.run();
                }
            }
            endOfStream();
        } catch (Throwable e) {
            LOG.error("{}: ends by a fault of the node", thread().getName(), e);
        } finally {
            finish();
        }
    }

    // ---- input -----------------------------------------------------------------------------------------------------

    /** A port that this thread reads. */
    private static final class Reading {
        final UdpPort port;
        final UdpBatch batch;
        boolean readable = true;

        Reading(UdpPort port, UdpBatch batch) {
            this.port = port;
            this.batch = batch;
        }
    }

    /** Takes a port over, to read it from now on. This loop's thread. */
    void adopt(UdpPort port) {
        UdpBatch batch = batches.computeIfAbsent(port.socket(), UdpSocket::newBatch);
        Reading reading = new Reading(port, batch);
        ports.add(reading);
        port.watch(loop, () -> reading.readable = true);
    }

    private boolean readPorts() {
        boolean worked = false;
        for (int i = 0; i < ports.size(); i++) {
            Reading reading = ports.get(i);
            if (reading.readable) {
                worked |= read(reading);
                Reception reception = environment().reception();
                if (reading.port.isShared() && reception != null) {
                    ports.remove(i--);
                    reading.port.release();
                    reception.adopt(reading.port);
                }
            }
        }
        return worked;
    }

    private boolean read(Reading reading) {
        int messages;
        try {
            messages = reading.port.socket().receive(reading.batch);
        } catch (IOException e) {
            LOG.warn("UDP {}: {}", reading.port.socket().localAddress(), e.getMessage());
            messages = 0;
        }
        // Level-triggered: where more waits, the next run of the loop says so again.
        reading.readable = messages >= FULL_MESSAGES;
        if (messages == 0) {
            return false;
        }
        arrivalSocket = reading.port.socket();
        UdpBatch batch = reading.batch;
        for (int message = 0; message < messages; message++) {
            peerHigh = batch.addressHigh(message);
            peerLow = batch.addressLow(message);
            peerPort = batch.port(message);
            int segment = Math.max(1, batch.segmentOctets(message));
            int end = batch.end(message);
            int start = batch.start(message);
            do {
                handle(batch.buffer(), start, Math.min(segment, end - start));
                start += segment;
            } while (start < end);
        }
        departures.flush();
        return true;
    }

    private boolean readInbox() {
        int packets = 0;
        while (packets < BATCH_PACKETS && inbox.next()) {
            packets++;
            peerHigh = inbox.addressHigh();
            peerLow = inbox.addressLow();
            peerPort = inbox.port();
            handleTaken(inboxMemory.nio(), inbox.offset(), inbox.length());
        }
        if (packets > 0) {
            departures.flush();
            inbox.release();
        }
        return packets > 0;
    }

    /** Puts a packet into the inbox; false when it is full. Any thread. */
    boolean offer(Packet packet, long high, long low, int port) {
        if (!inbox.offer(packet.buffer(), packet.offset(), packet.length(), high, low, port)) {
            return false;
        }
        loop.wakeup();
        return true;
    }

    /** Handles what is there, then ends. Any thread. */
    void endInput() {
        ending = true;
        loop.wakeup();
    }

    // ---- output ----------------------------------------------------------------------------------------------------

    @Override
    void reply(Packet packet) {
        departures.through(arrivalSocket).to(peerHigh, peerLow, peerPort).add(packet);
    }

    @Override
    long heldBack() {
        return 0;
    }

    @Override
    void handOver(ServiceDefinition other, Packet packet) {
        for (Reading reading : ports) {
            if (reading.port.socket() == arrivalSocket) {
                reading.port.share();
            }
        }
        UdpService instance = environment().udpService(other, arrivalSocket);
        if (instance == null) {
            traffic.drop(DropReason.STREAM_LIMIT);
        } else if (instance.offer(packet, peerHigh, peerLow, peerPort)) {
            traffic.handed();
        } else {
            traffic.drop(DropReason.INBOX_FULL);
        }
    }

    @Override
    void abort(DropReason reason, String why) {
        // There is no stream to end: the packet was dropped, the next one is another's.
    }

    @Override
    @Nullable
    Departure connect(InetSocketAddress address) {
        return new QueuedDeparture(
                loop, environment().pool(), address, environment().config().connectTimeout(), traffic);
    }

    @Override
    boolean cameFrom(Hop hop) {
        return hop.isUdp && hop.low == peerLow && hop.high == peerHigh && hop.port() == peerPort;
    }

    @Override
    void drain() {
        departures.flush();
    }

    /** What TCP next hops send back belongs to no one flow: it goes where its destination says. */
    private void takeFarPackets() {
        for (Departure departure : departures.connections()) {
            ((QueuedDeparture) departure).takeFarPackets(this::handleFarPacket);
        }
    }

    private void finish() {
        for (Reading reading : ports) {
            reading.port.release();
        }
        DropReason reason = DropReason.SHUTDOWN;
        while (inbox.next()) {
            traffic.taken();
            traffic.drop(reason);
        }
        inbox.release();
        departures.flush();
        closeService();
        departures.close(reason);
        memory.recycle();
        publish();
        environment().pool().give(inboxMemory);
        loop.close();
        environment().ended(this);
    }
}
