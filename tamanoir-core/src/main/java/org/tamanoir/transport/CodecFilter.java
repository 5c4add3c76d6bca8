package org.tamanoir.transport;

import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import java.io.IOException;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/** A codec between a {@link TcpConnection} and its socket: the far side does not speak in packets. */
final class CodecFilter extends ByteFilter {
    private final StreamCodec codec;
    private boolean isInputWhole;
    /** What codecs look at: positions and limits of pooled memory are others'. */
    private ByteBuffer units = NOTHING;

    private @Nullable Buffer unitsOf;

    CodecFilter(StreamCodec codec, Channel channel, BufferPool pool) {
        super(channel, pool);
        this.codec = codec;
    }

    @Override
    boolean isRoom(InputBuffer in) {
        return in.held() <= BufferPool.LARGE_BYTES - BufferPool.MEDIUM_BYTES;
    }

    @Override
    boolean isEstablished() {
        return true;
    }

    @Override
    boolean isInputWhole() {
        return isInputWhole;
    }

    @Override
    String cut() {
        return untranslatedBytes() + " octets of a message had come when it ended";
    }

    @Override
    String explain(IOException cause, boolean connected) {
        return String.valueOf(cause.getMessage());
    }

    @Override
    Progress translate(InputBuffer in, ReadControl reads, boolean socketEnded) throws IOException {
        while (reads.isWanted()) {
            if (!isRoom(in)) {
                return Progress.ROOM;
            }
            int octets = codec.decodedOctets(units(), arrivedStart, arrivedEnd);
            if (octets == 0) {
                return orEnded(Progress.INPUT, socketEnded);
            }
            if (untranslatedBytes() > BufferPool.MEDIUM_BYTES / 2) {
                in.expectMore();
            }
            Buffer room = in.room(octets, false);
            arrivedStart += codec.decode(units(), arrivedStart, arrivedEnd, room.nio(), in.end);
            in.end += octets;
            if (arrivedStart == arrivedEnd) {
                dropArrived();
            }
        }
        return orEnded(Progress.UNWANTED, socketEnded);
    }

    private Progress orEnded(Progress otherwise, boolean socketEnded) {
        isInputWhole = socketEnded && untranslatedBytes() == 0;
        return isInputWhole ? Progress.ENDED : otherwise;
    }

    private ByteBuffer units() {
        Buffer buffer = arrived;
        if (unitsOf != buffer) {
            unitsOf = buffer;
            units = buffer == null ? NOTHING : buffer.nio().duplicate();
        }
        return units.clear();
    }

    @Override
    void write(Buffer buffer, int first, int to) {
        int at = first;
        while (at < to) {
            int octets = codec.encodedOctets(buffer.nio(), at);
            ByteBuffer room = room(octets);
            int from = room.position();
            at += codec.encode(buffer.nio(), at, room, from);
            appended(room.clear().position(from + octets));
        }
        if (at != to) {
            throw new IllegalStateException("a packet was written in part");
        }
    }

    @Override
    void flush() {
        send();
    }

    @Override
    void answer() {
        // Its far side knows of no failure but the end.
    }

    @Override
    ChannelFuture end() {
        return sendLast();
    }

    @Override
    boolean hasPart() {
        return untranslatedBytes() > 0;
    }

    @Override
    void release() {
        super.release();
        unitsOf = null;
        units = NOTHING;
    }

    @Override
    int stagedBytes() {
        return uncommittedBytes();
    }
}
