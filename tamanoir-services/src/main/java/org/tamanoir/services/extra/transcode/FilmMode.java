package org.tamanoir.services.extra.transcode;

import java.nio.ByteBuffer;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.Packet;
import org.tamanoir.service.Counter;
import org.tamanoir.service.ServiceConfig;
import org.tamanoir.service.Verdict;
import org.tamanoir.services.NextService;
import org.tamanoir.services.extra.Header;
import org.tamanoir.services.extra.MadePacket;

/**
 * Films: drops pictures, the least important first ({@link Thinning}), in place of bytes that happen to be in excess. A
 * picture's kind is that of its packets' class of service, or of its start codes ({@link PictureStream}).
 *
 * <p>By class a run of packets of one class is handled as one picture, but P can end between any two. Thread contract: the
 * service's thread.
 */
final class FilmMode implements Mode {
    private static final PictureKind[] KINDS = PictureKind.values();
    private static final String LESS_IMPORTANT = "less important picture";

    private enum Kinds {
        CLASS,
        MPEG2,
        H264
    }

    /** Packets of all classes between two ends: not what a {@code Header} compares. */
    private record Flow(long sourceHigh, long sourceLow, long high, long low, int port, int stream) {
        static Flow of(Packet packet) {
            return new Flow(
                    packet.sourceHigh(),
                    packet.sourceLow(),
                    packet.destinationHigh(),
                    packet.destinationLow(),
                    packet.destinationPort(),
                    packet.streamId());
        }
    }

    private static final class Film {
        final Thinning thinning;
        final @Nullable PictureStream pictures;
        final Header last = new Header();
        PictureKind kind = PictureKind.NONE;

        Film(Thinning thinning, @Nullable PictureStream pictures) {
            this.thinning = thinning;
            this.pictures = pictures;
        }
    }

    private final Exit exit;
    private final NextService next;
    private final Kinds kinds;
    private final int percent;
    private final long bytesPerSecond;
    private final int[] classes;
    private final Map<Flow, Film> films;
    private final int maxPacketBytes;
    private final Counter bytesIn;
    private final Counter bytesOut;
    private final MadePacket made = new MadePacket();

    FilmMode(ServiceConfig config, NextService next, Exit exit) {
        this.exit = exit;
        this.next = next;
        kinds = config.choice("kinds", Kinds.CLASS);
        percent = (int) config.number("percent", 100, 1, 100);
        bytesPerSecond = config.number("rate-kbit", 0, 0, 100_000_000) * 1000 / 8;
        if (percent < 100 && bytesPerSecond > 0) {
            throw new IllegalArgumentException("percent: " + percent + " beside rate-kbit: leave one of them out");
        }
        classes = new int[] {
            (int) config.number("class-i", 0, 0, 255),
            (int) config.number("class-p", 1, 0, 255),
            (int) config.number("class-b", 2, 0, 255)
        };
        if (classes[0] == classes[1] || classes[1] == classes[2] || classes[0] == classes[2]) {
            throw new IllegalArgumentException("class-i, class-p, class-b: " + classes[0] + ", " + classes[1] + ", "
                    + classes[2] + " must be three different classes");
        }
        films = new Films((int) config.number("flows", 1024, 1, 65_536));
        maxPacketBytes = exit.maxPacketBytes();
        bytesIn = exit.count("bytes-in");
        bytesOut = exit.count("bytes-out");
    }

    /** The film that was silent for longest makes room. */
    private static final class Films extends LinkedHashMap<Flow, Film> {
        private static final long serialVersionUID = 1;
        private final int most;

        Films(int most) {
            super(16, 0.75f, true);
            this.most = most;
        }

        @Override
        protected boolean removeEldestEntry(Map.Entry<Flow, Film> eldest) {
            return size() > most;
        }
    }

    private Film begin(Flow flow) {
        Thinning thinning = new Thinning(percent, bytesPerSecond, exit.nowNs());
        PictureStream pictures = switch (kinds) {
            case CLASS -> null;
            case MPEG2 -> new PictureStream(PictureStream.Syntax.MPEG2, thinning);
            case H264 -> new PictureStream(PictureStream.Syntax.H264, thinning);
        };
        return new Film(thinning, pictures);
    }

    @Override
    public Verdict process(Packet packet) {
        Film film = films.computeIfAbsent(Flow.of(packet), this::begin);
        int bytes = packet.payloadLength();
        bytesIn.add(bytes);
        film.last.read(packet);
        return film.pictures == null ? byClass(packet, film, bytes) : byStartCode(packet, film.pictures, bytes);
    }

    private Verdict byClass(Packet packet, Film film, int bytes) {
        PictureKind kind = kind(packet.classOfService());
        boolean isSame = kind == film.kind;
        film.kind = kind;
        boolean keeps = isSame ? film.thinning.goOn() : film.thinning.begin(kind, exit.nowNs());
        film.thinning.count(bytes);
        return keeps ? forward(packet, bytes) : exit.end(LESS_IMPORTANT);
    }

    private PictureKind kind(int classOfService) {
        for (int i = 0; i < classes.length; i++) {
            if (classes[i] == classOfService) {
                return KINDS[i];
            }
        }
        return PictureKind.NONE;
    }

    private Verdict byStartCode(Packet packet, PictureStream pictures, int bytes) {
        int most = bytes + pictures.pendingBytes();
        if (most > maxPacketBytes - packet.headerLength() - next.extraBytes(packet)) {
            return exit.end("header leaves no room for the bytes that waited");
        }
        ByteBuffer payload = packet.payload();
        ByteBuffer room = packet.newPayload(most);
        int start = room.position();
        pictures.take(payload, room, exit.nowNs());
        int left = room.position() - start;
        if (left == 0 && bytes > 0) {
            return pictures.pendingBytes() == most ? Verdict.CONSUME : exit.end(LESS_IMPORTANT);
        }
        packet.commitPayload(left);
        return forward(packet, left);
    }

    private Verdict forward(Packet packet, int bytes) {
        bytesOut.add(bytes);
        next.name(packet);
        return Verdict.FORWARD;
    }

    /** Sends what waited for bytes that do not come, in a packet behind the last one. */
    @Override
    public void endOfStream() {
        for (Film film : films.values()) {
            if (film.pictures != null && film.pictures.pendingBytes() > 0) {
                ByteBuffer room = made.room(film.last, film.pictures.pendingBytes());
                int start = room.position();
                film.pictures.end(room);
                int bytes = room.position() - start;
                if (bytes > 0) {
                    Packet packet = made.finish(film.last, film.last.sequence() + 1, film.last.originNs(), bytes);
                    next.name(packet);
                    exit.send(packet);
                    bytesOut.add(bytes);
                }
            }
        }
    }
}
