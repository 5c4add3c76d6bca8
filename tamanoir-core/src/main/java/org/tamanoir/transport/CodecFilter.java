package org.tamanoir.transport;

import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelPromise;
import java.io.IOException;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/** A codec between a {@link TcpConnection} and its socket: the far side does not speak in packets. */
final class CodecFilter extends ByteFilter {
    private final StreamCodec codec;
    private boolean isInputWhole;
    private boolean hasEnded;
    /** Done when this side has ended; null before it is to end, and when nothing holds that up any more. */
    private @Nullable ChannelPromise ending;

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
        return codec.isEstablished();
    }

    @Override
    String late() {
        return "no answer in the same format";
    }

    @Override
    boolean isInputWhole() {
        return isInputWhole;
    }

    @Override
    String cut() {
        return !codec.isEstablished()
                ? "it closed the connection before it answered in the same format"
                : untranslatedBytes() + " octets of a message had come when it ended";
    }

    @Override
    String explain(IOException cause, boolean connected) {
        return String.valueOf(cause.getMessage());
    }

    @Override
    Progress translate(InputBuffer in, ReadControl reads, boolean socketEnded) throws IOException {
        if (socketEnded) {
            codec.unitsEnd();
        }
        Progress progress = translateAll(in, reads, socketEnded);
        speak();
        endAnswered(progress == Progress.INPUT);
        return progress;
    }

    private Progress translateAll(InputBuffer in, ReadControl reads, boolean socketEnded) throws IOException {
        while (reads.isWanted()) {
            if (!isRoom(in)) {
                return Progress.ROOM;
            }
            int octets = codec.decodedOctets(units(), arrivedStart, arrivedEnd);
            if (octets == 0) {
                int taken = codec.takenOctets(units(), arrivedStart, arrivedEnd);
                if (taken == 0) {
                    return orEnded(Progress.INPUT, socketEnded);
                }
                consume(taken);
                continue;
            }
            if (untranslatedBytes() > BufferPool.MEDIUM_BYTES / 2) {
                in.expectMore();
            }
            Buffer room = in.room(octets, false);
            int unit = codec.decode(units(), arrivedStart, arrivedEnd, room.nio(), in.end);
            in.end += octets;
            consume(unit);
        }
        return orEnded(Progress.UNWANTED, socketEnded);
    }

    private void consume(int octets) {
        arrivedStart += octets;
        if (arrivedStart == arrivedEnd) {
            dropArrived();
        }
    }

    /** Says what the codec has to say, unless something else waits to leave: who takes nothing is told nothing more. */
    private void speak() {
        int octets = codec.saidOctets();
        if (octets > 0 && !hasEnded && isClear()) {
            ByteBuffer room = room(octets);
            int from = room.position();
            codec.say(room, from);
            appended(room.clear().position(from + octets));
            send();
        }
    }

    private Progress orEnded(Progress otherwise, boolean socketEnded) {
        isInputWhole = socketEnded && untranslatedBytes() == 0 && codec.isEstablished();
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
        speak();
    }

    @Override
    void drained() {
        super.drained();
        speak();
    }

    @Override
    void answer() {
        // Its far side knows of no failure but the end.
    }

    @Override
    ChannelFuture end(boolean isRead) {
        hasEnded = true;
        send();
        ChannelPromise left = newPromise();
        ending = left;
        endAnswered(isRead);
        return left;
    }

    /**
     * Ends this side when the codec awaits no answer, or what comes is not read. One that found the socket closed
     * would have the system throw away what is on its way.
     */
    private void endAnswered(boolean isRead) {
        ChannelPromise left = ending;
        if (left != null && !(isRead && codec.awaitsAnswer())) {
            ending = null;
            sendLast(left);
        }
    }

    @Override
    boolean hasPart() {
        return untranslatedBytes() > 0;
    }

    @Override
    void failed(String why) {
        codec.failed(why);
    }

    @Override
    void release() {
        super.release();
        codec.closed();
        unitsOf = null;
        units = NOTHING;
    }

    @Override
    int stagedBytes() {
        return uncommittedBytes();
    }
}
