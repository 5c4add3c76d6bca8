package org.tamanoir.kernel;

import com.sun.jna.Native;
import com.sun.jna.Pointer;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * A socket to the kernel's netlink, in the network namespace of the thread that opens it. A request is answered in at
 * most {@value #TIMEOUT_MS} ms, unless {@link #answerWithin} says less, or fails; answers to earlier requests that came too late are passed over.
 *
 * <p>Thread contract: {@link #exchange}, {@link #dump} and {@link #receive} one thread at a time; {@link #send} any
 * thread.
 */
final class NetlinkSocket implements AutoCloseable {
    static final int ROUTE = 0;
    static final int GENERIC = 16;

    private static final int TIMEOUT_MS = 2_000;
    private static final int ANSWER_BYTES = 1 << 16; // the kernel's parts of a list are at most 32 KiB
    private static final int MAX_ANSWERS = 1 << 16;
    private static final int ERROR = 2;
    private static final int DONE = 3;
    private static final int MULTI = 0x2;
    private static final int CAPPED = 0x100;
    private static final int ACK_TLVS = 0x200;
    private static final int ERROR_TEXT = 1;
    private static final int UNNUMBERED = 0;

    private final int fd;
    private final String name;
    private final ByteBuffer memory = ByteBuffer.allocateDirect(ANSWER_BYTES).order(ByteOrder.nativeOrder());
    private final long address = Pointer.nativeValue(Native.getDirectBufferPointer(memory));
    private final AtomicBoolean isClosed = new AtomicBoolean();
    private int sequence = UNNUMBERED;
    private int timeoutMs = TIMEOUT_MS;

    private NetlinkSocket(int fd, String name) {
        this.fd = fd;
        this.name = name;
    }

    /** Opens one to {@link #ROUTE} or {@link #GENERIC}. */
    static NetlinkSocket open(int protocol) throws NetlinkException {
        String name = protocol == ROUTE ? "route netlink" : "generic netlink";
        int fd = LibC.socket(LibC.AF_NETLINK, LibC.SOCK_RAW | LibC.SOCK_CLOEXEC, protocol);
        if (fd < 0) {
            throw failure(name, "no socket", Native.getLastError());
        }
        NetlinkSocket socket = new NetlinkSocket(fd, name);
        // All three are comfort: without them answers are longer, say less, and one that is late costs the next.
        socket.setOption(LibC.SOL_NETLINK, LibC.NETLINK_NO_ENOBUFS, 1);
        socket.setOption(LibC.SOL_NETLINK, LibC.NETLINK_CAP_ACK, 1);
        socket.setOption(LibC.SOL_NETLINK, LibC.NETLINK_EXT_ACK, 1);
        if (!socket.setTimeout(LibC.SO_RCVTIMEO, TIMEOUT_MS) || !socket.setTimeout(LibC.SO_SNDTIMEO, TIMEOUT_MS)) {
            int errno = Native.getLastError();
            socket.close();
            throw failure(name, "no time limit", errno);
        }
        return socket;
    }

    /**
     * Opens one to {@link #ROUTE} that gets what the kernel tells these groups.
     *
     * @param groups a bit each, as RTMGRP_ in linux/rtnetlink.h
     * @param bufferBytes that may wait in the kernel; less without CAP_NET_ADMIN
     * @param waitMs that {@link #receive} waits for a datagram
     */
    static NetlinkSocket listen(int groups, int bufferBytes, int waitMs) throws NetlinkException {
        NetlinkSocket socket = open(ROUTE);
        socket.setOption(LibC.SOL_NETLINK, LibC.NETLINK_NO_ENOBUFS, 0);
        socket.setOption(LibC.SOL_SOCKET, LibC.SO_RCVBUF, bufferBytes);
        socket.setOption(LibC.SOL_SOCKET, LibC.SO_RCVBUFFORCE, bufferBytes);
        boolean isReady = socket.setTimeout(LibC.SO_RCVTIMEO, waitMs);
        // struct sockaddr_nl: u16 family, u16 padding, u32 port, u32 groups
        socket.memory
                .putInt(0, 0)
                .putShort(0, (short) LibC.AF_NETLINK)
                .putInt(4, 0)
                .putInt(8, groups);
        if (!isReady || LibC.bind(socket.fd, socket.address, 12) != 0) {
            int errno = Native.getLastError();
            socket.close();
            throw failure(socket.name, "cannot listen", errno);
        }
        return socket;
    }

    private void setOption(int level, int option, int value) {
        memory.putInt(0, value);
        LibC.setsockopt(fd, level, option, address, Integer.BYTES);
    }

    private boolean setTimeout(int option, int ms) {
        memory.putLong(0, ms / 1000).putLong(Long.BYTES, ms % 1000 * 1000L);
        return LibC.setsockopt(fd, LibC.SOL_SOCKET, option, address, 2 * Long.BYTES) == 0;
    }

    /**
     * Sends a request and waits until the kernel has said that it is done.
     *
     * @return what it answered besides, each from the family's header on; copies
     * @throws NetlinkException with the kernel's own words where it has any
     */
    List<ByteBuffer> exchange(NetlinkRequest request) throws NetlinkException {
        sequence = sequence == Integer.MAX_VALUE ? UNNUMBERED + 1 : sequence + 1;
        transmit(request, sequence, 0);
        List<ByteBuffer> answers = new ArrayList<>();
        long endNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMs);
        while (!readAnswers(answers, request.isDump())) {
            if (System.nanoTime() - endNs > 0 || answers.size() > MAX_ANSWERS) {
                throw new NetlinkException(
                        LibC.EAGAIN,
                        name + ": no end of the answer within " + timeoutMs + " ms, " + answers.size() + " parts came");
            }
        }
        return answers;
    }

    /** Waits for so long at most for the answer to each request, 1 ms at least. */
    void answerWithin(int ms) {
        timeoutMs = Math.max(1, Math.min(ms, TIMEOUT_MS));
        setTimeout(LibC.SO_RCVTIMEO, timeoutMs);
    }

    /** Takes the datagrams of a list. */
    interface Reader {
        /** Takes a datagram, whole; returns whether it ended the list. */
        boolean read(ByteBuffer datagram) throws NetlinkException;
    }

    /**
     * Has a long list read part by part.
     *
     * @throws NetlinkException if nothing comes for {@value #TIMEOUT_MS} ms before its end
     */
    void dump(NetlinkRequest request, Reader reader) throws NetlinkException {
        transmit(request, UNNUMBERED + 1, 0);
        boolean isDone = false;
        while (!isDone) {
            ByteBuffer datagram = receive(0);
            if (datagram == null) {
                throw new NetlinkException(LibC.EAGAIN, name + ": no answer within " + TIMEOUT_MS + " ms");
            }
            isDone = reader.read(datagram);
        }
    }

    /**
     * Returns the next datagram, which is valid until the next call; null = there is none.
     *
     * @param flags {@link LibC#MSG_DONTWAIT}, or 0 = waits for one
     * @throws NetlinkException with {@link LibC#ENOBUFS} if some were lost
     */
    @Nullable
    ByteBuffer receive(int flags) throws NetlinkException {
        long bytes;
        int errno;
        do {
            bytes = LibC.recv(fd, address, ANSWER_BYTES, flags | LibC.MSG_TRUNC);
            errno = bytes < 0 ? Native.getLastError() : 0;
        } while (errno == LibC.EINTR);
        if (errno == LibC.EAGAIN) {
            return null;
        }
        if (errno != 0 || bytes > ANSWER_BYTES) {
            throw errno != 0
                    ? failure(name, "cannot receive", errno)
                    : new NetlinkException(0, name + ": " + bytes + " bytes: must be at most " + ANSWER_BYTES);
        }
        return memory.clear().limit((int) bytes);
    }

    /** Asks that lists be of what the request names alone; kernels before 4.20 send all. */
    void filtersLists() {
        setOption(LibC.SOL_NETLINK, LibC.NETLINK_GET_STRICT_CHK, 1);
    }

    /** Sends a request that asks for no answer, without waiting. */
    void send(NetlinkRequest request) throws NetlinkException {
        transmit(request, UNNUMBERED, LibC.MSG_DONTWAIT);
    }

    private void transmit(NetlinkRequest request, int number, int flags) throws NetlinkException {
        byte[] bytes = request.finish(number);
        long sent;
        int errno;
        do {
            sent = LibC.send(fd, bytes, request.length(), flags);
            errno = sent < 0 ? Native.getLastError() : 0;
        } while (errno == LibC.EINTR);
        if (sent != request.length()) {
            throw failure(name, "cannot send", errno);
        }
    }

    /** Reads one datagram; whether it ended the answer. */
    private boolean readAnswers(List<ByteBuffer> answers, boolean isDump) throws NetlinkException {
        ByteBuffer datagram = receive(0);
        if (datagram == null) {
            throw new NetlinkException(LibC.EAGAIN, name + ": no answer within " + timeoutMs + " ms");
        }
        int bytes = datagram.limit();
        int at = 0;
        while (at + NetlinkRequest.HEADER_BYTES <= bytes) {
            int length = memory.getInt(at);
            if (length < NetlinkRequest.HEADER_BYTES || length > bytes - at) {
                throw new NetlinkException(0, name + ": broken answer, length " + length + " of " + bytes);
            }
            if (memory.getInt(at + 8) == sequence && readAnswer(at, length, answers, isDump)) {
                return true;
            }
            at += length + 3 & ~3;
        }
        return false;
    }

    private boolean readAnswer(int at, int length, List<ByteBuffer> answers, boolean isDump) throws NetlinkException {
        int type = Short.toUnsignedInt(memory.getShort(at + 4));
        int flags = Short.toUnsignedInt(memory.getShort(at + 6));
        ByteBuffer body = copy(at + NetlinkRequest.HEADER_BYTES, length - NetlinkRequest.HEADER_BYTES);
        if (type == ERROR || type == DONE) {
            int error = body.capacity() < Integer.BYTES ? 0 : body.getInt(0);
            if (error != 0) {
                throw failure(name, errorText(body, type, flags), -error);
            }
            return true;
        }
        answers.add(body);
        return isDump && (flags & MULTI) == 0;
    }

    private ByteBuffer copy(int at, int bytes) {
        ByteBuffer copy = ByteBuffer.allocate(bytes).order(ByteOrder.nativeOrder());
        return copy.put(0, memory, at, bytes);
    }

    /** Returns the kernel's words, which stand behind the request that it quotes. */
    private static @Nullable String errorText(ByteBuffer body, int type, int flags) {
        if ((flags & ACK_TLVS) == 0) {
            return null;
        }
        int at = Integer.BYTES;
        if (type == ERROR) {
            boolean isWhole = (flags & CAPPED) == 0 && body.capacity() >= at + NetlinkRequest.HEADER_BYTES;
            at += isWhole ? body.getInt(at) + 3 & ~3 : NetlinkRequest.HEADER_BYTES;
        }
        ByteBuffer text = at < 0 ? null : NetlinkAttributes.find(body, at, ERROR_TEXT);
        return text == null ? null : NetlinkAttributes.text(text);
    }

    private static NetlinkException failure(String name, @Nullable String what, int errno) {
        String system = LibC.strerror(errno);
        return new NetlinkException(errno, name + ": " + (what == null ? system : what + " (" + system + ")"));
    }

    @Override
    public void close() {
        if (isClosed.compareAndSet(false, true)) {
            LibC.close(fd);
        }
    }
}
