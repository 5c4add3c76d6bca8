package org.tamanoir.transport;

import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import java.io.IOException;
import java.nio.ByteBuffer;

/** A codec between a {@link TcpConnection} and its socket: the far side does not speak in packets. */
final class CodecFilter extends ByteFilter {
    private final StreamCodec codec;
    private boolean isInputWhole;

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
            Buffer buffer = arrived;
            ByteBuffer units = buffer == null ? NOTHING : buffer.nio();
            int octets = codec.decodedOctets(units, arrivedStart, arrivedEnd);
            if (octets == 0) {
                isInputWhole = socketEnded && untranslatedBytes() == 0;
                return isInputWhole ? Progress.ENDED : Progress.INPUT;
            }
            Buffer room = in.room(octets, false);
            arrivedStart += codec.decode(units, arrivedStart, arrivedEnd, room.nio(), in.end);
            in.end += octets;
            if (arrivedStart == arrivedEnd) {
                dropArrived();
            }
        }
        return Progress.UNWANTED;
    }

    @Override
    void write(Buffer buffer, int from, int to) {
        int at = from;
        while (at < to) {
            int octets = codec.encodedOctets(buffer.nio(), at);
            ByteBuffer room = room(octets);
            int end = room.position() + octets;
            try {
                at += codec.encode(buffer.nio(), at, room, room.position());
                room.position(end);
            } finally {
                appended(room);
            }
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
    int stagedBytes() {
        return uncommittedBytes();
    }
}
