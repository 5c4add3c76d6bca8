package org.tamanoir.node.load;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.Packet;
import org.tamanoir.client.LoadPattern;
import org.tamanoir.client.PacketHandler;
import org.tamanoir.client.Peer;
import org.tamanoir.node.config.Endpoint;

/**
 * All streams that {@code receive} sees, each counted by the thread that takes it in.
 *
 * <p>Thread contract: {@link #newHandler} and the queries from any thread; the counts of a stream are right when its
 * thread has ended.
 */
public final class ReceivedStreams {
    /** Each stream costs 10 KiB and more: what comes beyond this many is counted as a failure. */
    static final int MAX_STREAMS = 16_384;

    private final PacketOutput.@Nullable Factory files;
    private final boolean verify;
    private final boolean flushEachRead;
    private final List<ReceivedStream> all = new ArrayList<>();
    private final List<ReceivedStream> openUdp = new ArrayList<>();
    private final List<String> brokenConnections = new ArrayList<>();
    private final Set<ReceivedStream> ended = new LinkedHashSet<>();
    private volatile @Nullable IOException failure;
    private volatile long lastNs;

    /**
     * @param files where payloads go, or null
     * @param verify whether payloads are generated load to be checked
     * @param flushEachRead whether somebody waits at the other end of the output
     */
    public ReceivedStreams(PacketOutput.@Nullable Factory files, boolean verify, boolean flushEachRead) {
        this.files = files;
        this.verify = verify;
        this.flushEachRead = flushEachRead;
    }

    /** For one TCP connection, or for all of UDP. */
    public PacketHandler newHandler() {
        return new Handler();
    }

    private record StreamKey(long addressHigh, long addressLow, int port, int streamId) {}

    private final class Handler implements PacketHandler {
        private final Map<StreamKey, ReceivedStream> streams = new HashMap<>();
        private final List<ReceivedStream> touched = new ArrayList<>();
        private final @Nullable LoadPattern pattern = verify ? new LoadPattern() : null;
        private @Nullable ReceivedStream last;
        private int lastStreamId;
        private long lastHigh;
        private long lastLow;
        private int lastPort;
        private long nowNs;
        private String peerText = "";
        private boolean udp;

        @Override
        public void packet(Packet packet, Peer peer) throws IOException {
            if (nowNs == 0) {
                nowNs = System.nanoTime();
            }
            ReceivedStream stream = last;
            if (stream == null || packet.streamId() != lastStreamId || udp && !isLastPeer(peer)) {
                stream = find(packet, peer);
            }
            try {
                stream.count(packet, nowNs);
            } catch (IOException e) {
                failure = e;
                throw e;
            }
        }

        private boolean isLastPeer(Peer peer) {
            return peer.port() == lastPort && peer.addressLow() == lastLow && peer.addressHigh() == lastHigh;
        }

        private ReceivedStream find(Packet packet, Peer peer) throws IOException {
            udp = peer.isUdp();
            lastStreamId = packet.streamId();
            lastPort = peer.port();
            lastLow = peer.addressLow();
            lastHigh = peer.addressHigh();
            StreamKey key = new StreamKey(lastHigh, lastLow, lastPort, lastStreamId);
            ReceivedStream stream = streams.get(key);
            if (stream == null) {
                last = null;
                peerText = (udp ? "UDP " : "TCP ") + Endpoint.toString(peer.address());
                stream = open(
                        lastStreamId,
                        peerText,
                        new PacketOutput.Source(peer.address().getAddress(), udp),
                        pattern,
                        nowNs);
                streams.put(key, stream);
            }
            if (flushEachRead) {
                touched.add(stream);
            }
            last = stream;
            return stream;
        }

        @Override
        public void batchEnd() throws IOException {
            if (nowNs != 0) {
                lastNs = nowNs;
                nowNs = 0;
            }
            if (flushEachRead) {
                for (ReceivedStream stream : touched) {
                    flush(stream);
                }
                touched.clear();
                last = null;
            }
        }

        private void flush(ReceivedStream stream) throws IOException {
            try {
                stream.flush();
            } catch (IOException e) {
                failure = e;
                throw e;
            }
        }

        @Override
        public void closed(@Nullable String fault) {
            for (ReceivedStream stream : streams.values()) {
                try {
                    stream.end();
                } catch (IOException e) {
                    failure = e;
                }
            }
            end(streams.values(), fault == null ? null : (peerText.isEmpty() ? "a peer" : peerText) + ": " + fault);
        }
    }

    private synchronized ReceivedStream open(
            int streamId, String peer, PacketOutput.Source source, @Nullable LoadPattern pattern, long nowNs)
            throws IOException {
        if (all.size() >= MAX_STREAMS) {
            throw new IOException("more than " + MAX_STREAMS + " streams: start another receiver");
        }
        try {
            PacketOutput output = files == null ? null : files.open(streamId, source);
            ReceivedStream stream = new ReceivedStream(streamId, peer, pattern, output, nowNs);
            all.add(stream);
            if (source.byNumber()) {
                openUdp.add(stream);
            }
            return stream;
        } catch (IOException e) {
            failure = e;
            throw e;
        }
    }

    private synchronized void end(Collection<ReceivedStream> streams, @Nullable String fault) {
        ended.addAll(streams);
        openUdp.removeAll(streams);
        if (fault != null) {
            brokenConnections.add(fault);
        }
    }

    /** Streams that have ended: over TCP with their connection, over UDP when they were silent for this long. */
    public synchronized List<ReceivedStream> ended(long udpSilenceNs) {
        long nowNs = System.nanoTime();
        openUdp.removeIf(stream -> nowNs - stream.lastNs() >= udpSilenceNs && ended.add(stream));
        return List.copyOf(ended);
    }

    /** When the last packets came, in the time of {@link System#nanoTime}; 0 before the first. */
    long lastNs() {
        return lastNs;
    }

    /** Why payloads could not be written; null when they could. */
    @Nullable
    IOException failure() {
        return failure;
    }

    synchronized List<String> brokenConnections() {
        return List.copyOf(brokenConnections);
    }

    synchronized List<ReceivedStream> all() {
        return List.copyOf(all);
    }
}
