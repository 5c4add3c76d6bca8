package org.tamanoir.transport;

import com.sun.jna.Native;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Joins datagrams to the same address with the same length (the last may be shorter) into one message that the kernel
 * or the device cuts up again (UDP_SEGMENT), also where some to others stand between them, and sends up to 64 messages
 * by one sendmmsg. Datagrams to one address keep their order.
 * A path that cannot do that is found by trying: the datagrams go one by one, and later ones of that size to that
 * address too, see {@link NarrowPaths}; where the device cannot, all later ones do.
 *
 * <p>Thread contract: that of {@link UdpSender}; the counters and {@link #lastError} may be read by any thread.
 */
final class NativeUdpSender implements UdpSender {
    private static final int MESSAGES = 64;
    /** Also UIO_MAXIOV, what the kernel takes in one message. */
    private static final int IOVECS = 1024;

    private static final Pattern RELEASE = Pattern.compile("(\\d{1,9})\\.(\\d{1,9})");

    private static final int GSO_LIMIT_SEGMENTS = segments(System.getProperty("os.version"));
    /** The joined payload with the headers of IPv6 and UDP stays within 65,535. */
    private static final int GSO_LIMIT_V6_BYTES = 65_487;
    /** How long one flush waits for room in the socket's send buffer. */
    private static final long WAIT_NS = TimeUnit.SECONDS.toNanos(1);
    /** Message and iovec used to send the datagrams of a refused message one by one. */
    private static final int SPARE_MESSAGE = MESSAGES;

    private static final int SPARE_IOVEC = IOVECS;
    /** Of a {@link #way}: the traffic octet, and where the number of the source begins. */
    private static final int MARK = 0xFF;

    private static final int SOURCE_SHIFT = 8;
    private static final int FLAGS = LibC.MSG_DONTWAIT | LibC.MSG_NOSIGNAL;

    private SharedFd fd;
    private final boolean v6;
    private final int scope;
    private final boolean onWildcard;
    /** Null = failures are counted alone, and a full send buffer is waited for. */
    private final @Nullable UdpRefusals refusals;

    private final int gsoLimitBytes;
    private final MessageArray messages;
    private final BufferAddresses addresses = new BufferAddresses();
    private final ByteBuffer pollMemory = MessageArray.allocate(8);
    private final long pollAddress = MessageArray.addressOf(pollMemory);

    private final int[] packets = new int[MESSAGES];
    private final int[] bytes = new int[MESSAGES];
    private final int[] segments = new int[MESSAGES];
    private final int[] firstIovecs = new int[MESSAGES];
    private final long[] highs = new long[MESSAGES];
    private final long[] lows = new long[MESSAGES];
    private final int[] ports = new int[MESSAGES];
    /** As {@link #way}. */
    private final int[] ways = new int[MESSAGES];
    /** Whether a message may still grow. */
    private final boolean[] open = new boolean[MESSAGES];

    /** Of datagrams that are added: what {@link #markAs} said, and above it the number of their source; 0 = none. */
    private int way;

    /** The sources that datagrams which wait may leave from, by their numbers. */
    private final UdpSources sources = new UdpSources();

    private int count;
    /** The message of the datagram before. */
    private int last;
    /** One more than the last message to each address, from the place that the address's hash chooses on; 0 = none. */
    private final byte[] latest = new byte[2 * MESSAGES];

    // The memory of messages, in pieces that become iovecs: those of a message are chained, the last ends with itself.
    private final long[] pieceStarts = new long[IOVECS];
    private final int[] pieceBytes = new int[IOVECS];
    private final int[] nextPieces = new int[IOVECS];
    private final int[] firstPieces = new int[MESSAGES];
    private final int[] lastPieces = new int[MESSAGES];
    private int pieces;

    /** Datagrams longer than this are not joined. */
    private int gsoLimitSegmentBytes;
    /** Null = none was met. */
    private @Nullable NarrowPaths narrow;

    private long flushDeadlineNs;
    private boolean waited;

    private volatile long sentPackets;
    private volatile long sentBytes;
    private volatile long failedPackets;
    private volatile String lastError = "";

    /** @param onWildcard datagrams may leave {@link #from} any address of the host */
    NativeUdpSender(
            SharedFd fd,
            boolean v6,
            int scope,
            boolean segmentation,
            boolean onWildcard,
            @Nullable UdpRefusals refusals) {
        this.messages = new MessageArray(
                MESSAGES + 1,
                IOVECS + 1,
                onWildcard ? MessageArray.SOURCED_CONTROL_BYTES : MessageArray.SENT_CONTROL_BYTES);
        this.onWildcard = onWildcard;
        this.fd = fd;
        this.refusals = refusals;
        this.v6 = v6;
        this.scope = scope;
        this.gsoLimitBytes = v6 ? GSO_LIMIT_V6_BYTES : UdpAddress.LIMIT_V4_BYTES;
        this.gsoLimitSegmentBytes = segmentation ? gsoLimitBytes : 0;
        messages.setPayload(SPARE_MESSAGE, SPARE_IOVEC, 1);
    }

    /** Returns how many datagrams a kernel of this release takes as one: UDP_MAX_SEGMENTS, doubled in Linux 6.9. */
    static int segments(String release) {
        Matcher version = RELEASE.matcher(release);
        if (!version.lookingAt()) {
            return 64;
        }
        int major = Integer.parseInt(version.group(1));
        return major > 6 || major == 6 && Integer.parseInt(version.group(2)) >= 9 ? 128 : 64;
    }

    @Override
    public void add(ByteBuffer buffer, int offset, int length, long addressHigh, long addressLow, int port) {
        Objects.checkFromIndexSize(offset, length, buffer.capacity());
        if (length > gsoLimitBytes || UdpAddress.isV4(addressHigh, addressLow) == v6 || port < 1 || port > 65_535) {
            String refusal = UdpAddress.refusal(v6, length, addressHigh, addressLow, port);
            if (!refusal.isEmpty()) {
                fail(1, refusal);
                if (refusals != null) {
                    refusals.refused(addressHigh, addressLow, port, 1, length, false);
                }
                return;
            }
        }
        long base = addresses.find(buffer);
        if (base == 0) {
            flush(); // what waits may lie in the buffers that the table forgets now
            base = addresses.remember(buffer);
        }
        long start = base + offset;
        int m = isTo(last, addressHigh, addressLow, port) ? last : latest[place(addressHigh, addressLow, port)] - 1;
        if (m >= 0 && open[m] && join(m, start, length)) {
            last = m;
        } else {
            begin(start, length, addressHigh, addressLow, port);
        }
    }

    @Override
    public void markAs(int trafficOctet) {
        way = way & ~MARK | trafficOctet;
    }

    @Override
    public void from(long high, long low, int device) {
        if (onWildcard) {
            int number = sources.number(high, low, device);
            if (number < 0) {
                flush(); // What waits has gone, and no number is in use.
                number = sources.only(high, low, device);
            }
            way = number << SOURCE_SHIFT | way & MARK;
        }
    }

    @Override
    public void through(UdpSocket socket) {
        if (!(socket instanceof NativeUdpSocket other)) {
            throw new IllegalArgumentException("socket of another kind than the sender's");
        }
        if (other.shared() != fd) {
            flush();
            fd = other.shared();
        }
    }

    private boolean isTo(int m, long high, long low, int port) {
        return m < count && lows[m] == low && highs[m] == high && ports[m] == port && ways[m] == way;
    }

    /** Returns where the last message to this address is or would be; at most half of the places are taken. */
    private int place(long high, long low, int port) {
        int at = (int) ((high ^ low ^ port) * 0x9E37_79B9_7F4A_7C15L >>> 57);
        while (latest[at] != 0 && !isTo(latest[at] - 1, high, low, port)) {
            at = at + 1 & 2 * MESSAGES - 1;
        }
        return at;
    }

    @Override
    public void addRun(
            ByteBuffer buffer, int offset, int bytes, int segmentBytes, long addressHigh, long addressLow, int port) {
        Objects.checkFromIndexSize(offset, bytes, buffer.capacity());
        int at = 0;
        while (at < bytes) {
            int length = Math.min(segmentBytes, bytes - at);
            add(buffer, offset + at, length, addressHigh, addressLow, port);
            at += length;
            if (count > 0 && open[last] && end(last) == addresses.find(buffer) + offset + at) {
                at += grow(last, (bytes - at) / segmentBytes);
            }
        }
    }

    /** Returns where the last datagram of a message ends in memory. */
    private long end(int m) {
        return pieceStarts[lastPieces[m]] + pieceBytes[lastPieces[m]];
    }

    /** Has up to so many more datagrams join an open message, right behind its last one and as long; returns their bytes. */
    private int grow(int m, int more) {
        int room = Math.min(GSO_LIMIT_SEGMENTS - packets[m], (gsoLimitBytes - bytes[m]) / segments[m]);
        int joined = Math.min(more, room) * segments[m];
        pieceBytes[lastPieces[m]] += joined;
        packets[m] += Math.min(more, room);
        bytes[m] += joined;
        return joined;
    }

    private boolean join(int m, long start, int length) {
        if (length == 0
                || length > segments[m]
                || packets[m] == GSO_LIMIT_SEGMENTS
                || bytes[m] + length > gsoLimitBytes) {
            return false;
        }
        if (start == end(m)) {
            pieceBytes[lastPieces[m]] += length;
        } else if (pieces < IOVECS) {
            nextPieces[lastPieces[m]] = pieces;
            lastPieces[m] = piece(start, length);
        } else {
            return false;
        }
        packets[m]++;
        bytes[m] += length;
        open[m] = length == segments[m];
        return true;
    }

    private int piece(long start, int length) {
        pieceStarts[pieces] = start;
        pieceBytes[pieces] = length;
        nextPieces[pieces] = pieces;
        return pieces++;
    }

    private void begin(long start, int length, long addressHigh, long addressLow, int port) {
        if (count == MESSAGES || pieces == IOVECS) {
            flush();
        }
        int m = count++;
        messages.setName(m, v6, addressHigh, addressLow, port, scope);
        firstPieces[m] = piece(start, length);
        lastPieces[m] = firstPieces[m];
        packets[m] = 1;
        bytes[m] = length;
        segments[m] = length;
        open[m] = length > 0
                && length <= gsoLimitSegmentBytes
                && (narrow == null || narrow.mayJoin(addressHigh, addressLow, length, System.nanoTime()));
        highs[m] = addressHigh;
        lows[m] = addressLow;
        ports[m] = port;
        ways[m] = way;
        latest[place(addressHigh, addressLow, port)] = (byte) (m + 1);
        last = m;
    }

    /** Writes the pieces of each message one behind the other. */
    private void seal() {
        int iovecs = 0;
        for (int m = 0; m < count; m++) {
            firstIovecs[m] = iovecs;
            int piece = firstPieces[m];
            messages.setIovec(iovecs++, pieceStarts[piece], pieceBytes[piece]);
            while (nextPieces[piece] != piece) {
                piece = nextPieces[piece];
                messages.setIovec(iovecs++, pieceStarts[piece], pieceBytes[piece]);
            }
            messages.setPayload(m, firstIovecs[m], iovecs - firstIovecs[m]);
            setControls(m, m, packets[m] > 1 ? segments[m] : 0);
        }
    }

    /** Says how a message is sent, as {@code m}. */
    private void setControls(int message, int m, int segmentBytes) {
        messages.setControls(message, v6, segmentBytes, ways[m] & MARK);
        int source = ways[m] >>> SOURCE_SHIFT;
        if (source != 0) {
            messages.addSource(message, v6, sources.high(source), sources.low(source), sources.device(source));
        }
    }

    @Override
    public void flush() {
        if (count == 0) {
            return;
        }
        seal();
        waited = false;
        if (fd.acquire()) {
            try {
                send();
            } finally {
                fd.release();
            }
        } else {
            failFrom(0, "the UDP socket is closed", false);
        }
        discard();
    }

    @Override
    public void discard() {
        count = 0;
        pieces = 0;
        Arrays.fill(latest, (byte) 0);
    }

    private void send() {
        int next = 0;
        int again = 0; // Messages below this have been tried twice.
        while (next < count) {
            int sent = LibC.sendmmsg(fd.number(), messages.addressOfMessage(next), count - next, FLAGS);
            if (sent > 0) {
                countSent(next, next + sent);
                next += sent;
                continue;
            }
            int errno = Native.getLastError();
            if (errno == LibC.EINTR) {
                continue;
            }
            if (again <= next && NativeUdpSocket.isPassing(errno)) {
                again = next + 1; // It may have been told of an earlier one: then nothing was sent.
                continue;
            }
            if (errno == LibC.EAGAIN) {
                if (!awaitRoom()) {
                    failFrom(next, "the UDP socket's send buffer stayed full", true);
                    return;
                }
            } else {
                if (packets[next] > 1 && mayComeOfSegmentation(errno)) {
                    sendOneByOne(next, errno);
                } else {
                    fail(next, packets[next], bytes[next], describe(next, errno), false);
                }
                next++;
            }
        }
    }

    private static boolean mayComeOfSegmentation(int errno) {
        return errno == LibC.EINVAL || errno == LibC.EMSGSIZE || errno == LibC.EIO || errno == LibC.EOPNOTSUPP;
    }

    /**
     * Sends the datagrams of a message one by one. EINVAL and EMSGSIZE mean that they do not fit the path's MTU, where
     * single ones would be fragmented; EIO and EOPNOTSUPP that the device cannot. Either is believed only when a single
     * datagram gets through, since a bad address gives EINVAL as well.
     */
    private void sendOneByOne(int m, int segmentationErrno) {
        boolean isNarrow = false;
        messages.copyName(m, SPARE_MESSAGE, v6);
        setControls(SPARE_MESSAGE, m, 0);
        int endIovec = m + 1 < count ? firstIovecs[m + 1] : pieces;
        for (int i = firstIovecs[m]; i < endIovec; i++) {
            long end = messages.iovecStart(i) + messages.iovecBytes(i);
            for (long start = messages.iovecStart(i); start < end; start += segments[m]) {
                int length = (int) Math.min(segments[m], end - start);
                messages.setIovec(SPARE_IOVEC, start, length);
                int errno = sendSpare();
                if (errno != 0) {
                    fail(m, 1, length, describe(m, errno), errno == LibC.EAGAIN);
                    continue;
                }
                count(1, length);
                if (segmentationErrno == LibC.EINVAL || segmentationErrno == LibC.EMSGSIZE) {
                    isNarrow = true;
                } else {
                    gsoLimitSegmentBytes = 0;
                }
            }
        }
        if (isNarrow) {
            narrow = narrow == null ? new NarrowPaths() : narrow;
            narrow.note(messages.addressHigh(m), messages.addressLow(m), segments[m], System.nanoTime());
        }
    }

    /** Returns errno; 0 when the datagram left. */
    private int sendSpare() {
        for (; ; ) {
            if (LibC.sendmmsg(fd.number(), messages.addressOfMessage(SPARE_MESSAGE), 1, FLAGS) == 1) {
                return 0;
            }
            int errno = Native.getLastError();
            if (errno != LibC.EINTR && !(errno == LibC.EAGAIN && awaitRoom())) {
                return errno;
            }
        }
    }

    private boolean awaitRoom() {
        if (!waited) {
            waited = true;
            flushDeadlineNs = System.nanoTime() + WAIT_NS;
        }
        try {
            // A poll that says "writable" and a send that says "full" may alternate; the deadline ends that too.
            return refusals == null
                    && flushDeadlineNs - System.nanoTime() > 0
                    && Poll.await(fd, pollMemory, pollAddress, LibC.POLLOUT, flushDeadlineNs);
        } catch (IOException e) {
            return false;
        }
    }

    private void countSent(int from, int to) {
        int sumPackets = 0;
        long sumBytes = 0;
        for (int m = from; m < to; m++) {
            sumPackets += packets[m];
            sumBytes += bytes[m];
        }
        count(sumPackets, sumBytes);
    }

    @SuppressWarnings("NonAtomicVolatileUpdate") // one thread writes
    private void count(int morePackets, long moreBytes) {
        sentPackets += morePackets;
        sentBytes += moreBytes;
    }

    private void failFrom(int m, String error, boolean isFull) {
        for (int i = m; i < count; i++) {
            fail(i, packets[i], bytes[i], error, isFull);
        }
    }

    private void fail(int m, int morePackets, int moreBytes, String error, boolean isFull) {
        fail(morePackets, error);
        if (refusals != null) {
            refusals.refused(
                    messages.addressHigh(m), messages.addressLow(m), messages.port(m), morePackets, moreBytes, isFull);
        }
    }

    @SuppressWarnings("NonAtomicVolatileUpdate") // one thread writes
    private void fail(int morePackets, String error) {
        failedPackets += morePackets;
        lastError = error;
    }

    private String describe(int m, int errno) {
        String to = UdpAddress.text(messages.addressHigh(m), messages.addressLow(m), messages.port(m));
        return "datagram of " + segments[m] + " bytes to " + to + ": " + LibC.strerror(errno);
    }

    @Override
    public long sentPackets() {
        return sentPackets;
    }

    @Override
    public long sentBytes() {
        return sentBytes;
    }

    @Override
    public long failedPackets() {
        return failedPackets;
    }

    @Override
    public String lastError() {
        return lastError;
    }
}
