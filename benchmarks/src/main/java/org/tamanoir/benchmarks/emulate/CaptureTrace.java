package org.tamanoir.benchmarks.emulate;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

/**
 * A trace in pcap (times in µs or ns) or pcapng (draft-ietf-opsawg-pcapng), of either byte order. Of a frame it takes
 * time, length on the line, destination address and traffic class. Left out and counted are frames that are not IP, those
 * longer than a packet can be, as hosts make them for their own use (BIG TCP), and in pcapng those of an interface whose
 * link type is another, whatever else its description and its frames say.
 *
 * <p>Thread contract: one thread.
 */
final class CaptureTrace extends Trace {
    private static final int PCAP_US = 0xA1B2C3D4;
    private static final int PCAP_NS = 0xA1B23C4D;
    /** Major; the minor one is 4 since 1998, and says no more. */
    private static final int PCAP_VERSION = 2;

    private static final int SECTION = 0x0A0D0D0A;
    private static final int SECTION_ORDER = 0x1A2B3C4D;
    private static final int INTERFACE = 1;
    /** Its interface has 2 bytes, and 2 behind them tell of losses. */
    private static final int OLD_PACKET = 2;

    private static final int SIMPLE_PACKET = 3;
    private static final int ENHANCED_PACKET = 6;
    private static final int OPTION_RESOLUTION = 9;
    private static final int OPTION_OFFSET = 14;

    /** Of a frame as captured, as tcpdump bounds it. */
    private static final int MAX_CAPTURED = 1 << 18;
    /** Of a block; others than those of packets may be longer, and are not. */
    private static final int MAX_BLOCK = 1 << 24;
    /** Interfaces of a section. */
    private static final int MAX_INTERFACES = 4096;

    private static final int ETHERNET = 1;
    private static final int RAW_IP = 101;
    private static final int LINUX_COOKED = 113;
    /** What the device "any" has since libpcap 1.10.2: the type stands first. */
    private static final int LINUX_COOKED_2 = 276;

    private static final int COOKED_2_BYTES = 20;
    private static final int RAW_IPV4 = 228;
    private static final int RAW_IPV6 = 229;

    private static final int TYPE_IPV4 = 0x0800;
    private static final int TYPE_IPV6 = 0x86DD;
    private static final int TYPE_VLAN = 0x8100;
    private static final int TYPE_OUTER_VLAN = 0x88A8;

    /** How an interface writes: times are in 10^-resolution s, or 2^-(resolution − 128) s from 128 on. */
    private record Interface(int link, int resolution, long offsetNs) {}

    private final boolean isPcap;
    private final List<Interface> interfaces = new ArrayList<>();
    private ByteOrder order = ByteOrder.BIG_ENDIAN;
    private long leftOut;

    CaptureTrace(InputStream in, String name) throws IOException {
        super(in, name);
        ByteBuffer magic = read(4, "its first bytes");
        int number = magic.getInt(0);
        isPcap = number != SECTION;
        if (!isPcap) {
            section(read(4, "its section header"));
            return;
        }
        if (!isPcap(number)) {
            order = ByteOrder.LITTLE_ENDIAN;
            number = Integer.reverseBytes(number);
        }
        if (!isPcap(number)) {
            throw fault("its first bytes are %08x: must be a capture in pcap or pcapng, or end in .csv"
                    .formatted(magic.getInt(0)));
        }
        ByteBuffer header = read(20, "its header");
        if (header.getShort(0) != PCAP_VERSION) {
            throw fault("its version is " + header.getShort(0) + ": must be " + PCAP_VERSION);
        }
        int link = header.getInt(16) & 0xFFFF;
        if (!isKnown(link)) {
            throw fault(
                    "link type " + link + ": must be Ethernet (1), raw IP (101, 228, 229) or Linux cooked (113, 276)");
        }
        interfaces.add(new Interface(link, number == PCAP_NS ? 9 : 6, 0));
    }

    private static boolean isPcap(int number) {
        return number == PCAP_US || number == PCAP_NS;
    }

    /** Returns how many frames so far were left out. */
    long leftOut() {
        return leftOut;
    }

    private static boolean isKnown(int link) {
        return switch (link) {
            case ETHERNET, RAW_IP, LINUX_COOKED, LINUX_COOKED_2, RAW_IPV4, RAW_IPV6 -> true;
            default -> false;
        };
    }

    @Override
    public boolean next(Arrival into) throws IOException {
        while (isPcap ? nextRecord(into) : nextPacket(into)) {
            if (into.bytes > 0) {
                return true;
            }
            leftOut++;
        }
        return false;
    }

    private boolean nextRecord(Arrival into) throws IOException {
        int first = in.read();
        if (first < 0) {
            return false;
        }
        begin();
        ByteBuffer header = ByteBuffer.allocate(16).order(order).put((byte) first);
        header.put(read(15, "its header")).flip();
        Interface by = interfaces.get(0);
        long seconds = Integer.toUnsignedLong(header.getInt());
        long fraction = Integer.toUnsignedLong(header.getInt());
        if (fraction >= (by.resolution == 9 ? 1_000_000_000 : 1_000_000)) {
            throw fault("its time has " + fraction + " in the place of parts of a second");
        }
        long ns = seconds * 1_000_000_000 + fraction * (by.resolution == 9 ? 1 : 1000);
        int captured = captured(header.getInt(), MAX_CAPTURED);
        int length = header.getInt();
        frame(by, ns, length, read(captured, "it"), into);
        return true;
    }

    private int captured(int bytes, int most) throws IOException {
        if (bytes < 0 || bytes > most) {
            throw fault("it has " + Integer.toUnsignedString(bytes) + " bytes captured: must be at most " + most);
        }
        return bytes;
    }

    private boolean nextPacket(Arrival into) throws IOException {
        int first;
        while ((first = in.read()) >= 0) {
            ByteBuffer head = ByteBuffer.allocate(8).order(order).put((byte) first);
            head.put(read(7, "a block's header")).flip();
            int type = head.getInt();
            if (type == SECTION) {
                section(head.slice());
                continue;
            }
            ByteBuffer body = body(head.getInt(), 8);
            try {
                if (type == INTERFACE) {
                    interfaces.add(described(body));
                } else if (type == ENHANCED_PACKET || type == OLD_PACKET) {
                    begin();
                    packet(body, number(body, type), into);
                    return true;
                } else if (type == SIMPLE_PACKET) {
                    begin();
                    if (!interfaces.isEmpty() && !isKnown(interfaces.get(0).link)) {
                        into.bytes = 0;
                        return true;
                    }
                    throw fault("it stands in a block of type " + type
                            + ", without a time: write the file anew (editcap -F pcapng)");
                }
            } catch (BufferUnderflowException | ArithmeticException e) {
                throw fault("a block of type " + type + " does not hold what it has to say");
            }
        }
        return false;
    }

    /** Reads the rest of a section's header, of which type and length are read. */
    private void section(ByteBuffer length) throws IOException {
        int start = read(4, "its section header").order(ByteOrder.BIG_ENDIAN).getInt();
        order = start == SECTION_ORDER ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN;
        if (start != SECTION_ORDER && start != Integer.reverseBytes(SECTION_ORDER)) {
            throw fault("a section's byte order is %08x: must be 1a2b3c4d".formatted(start));
        }
        interfaces.clear();
        ByteBuffer body = body(length.order(order).getInt(0), 12);
        if (body.remaining() < 12 || body.getShort(0) != 1) {
            throw fault("a section's version is not 1");
        }
    }

    /** Reads the rest of a block of this length, of which so many bytes are read, and the length at its end. */
    private ByteBuffer body(int length, int isRead) throws IOException {
        if (length < isRead + 4 || length > MAX_BLOCK || length % 4 != 0) {
            throw fault("a block has " + Integer.toUnsignedString(length) + " bytes: must be a multiple of 4 from "
                    + (isRead + 4) + " to " + MAX_BLOCK);
        }
        int rest = length - isRead;
        ByteBuffer body = read(rest, "a block");
        if (body.getInt(rest - 4) != length) {
            throw fault("a block of " + length + " bytes has another length at its end, "
                    + Integer.toUnsignedString(body.getInt(rest - 4)));
        }
        return body.limit(rest - 4);
    }

    private Interface described(ByteBuffer body) throws IOException {
        if (interfaces.size() >= MAX_INTERFACES) {
            throw fault("its section has more than " + MAX_INTERFACES + " interfaces");
        }
        int link = body.getShort() & 0xFFFF;
        if (!isKnown(link)) {
            return new Interface(link, 0, 0);
        }
        body.getShort();
        body.getInt();
        int resolution = 6;
        long offsetNs = 0;
        while (body.remaining() >= 4) {
            int option = body.getShort() & 0xFFFF;
            int bytes = body.getShort() & 0xFFFF;
            if (option == 0) {
                break;
            }
            int at = body.position();
            int must =
                    option == OPTION_RESOLUTION ? 1 : option == OPTION_OFFSET ? 8 : Math.min(bytes, body.remaining());
            if (bytes != must) {
                throw fault("an interface's option " + option + " has " + bytes + " bytes: must be " + must);
            }
            if (option == OPTION_RESOLUTION) {
                resolution = body.get() & 0xFF;
            } else if (option == OPTION_OFFSET) {
                offsetNs = Math.multiplyExact(body.getLong(), 1_000_000_000);
            }
            body.position(Math.min(body.limit(), at + (bytes + 3) / 4 * 4));
        }
        int digits = resolution & 0x7F;
        if (digits > (resolution < 128 ? 18 : 62)) {
            throw fault("an interface counts time in units of " + (resolution < 128 ? "10^-" : "2^-") + digits + " s");
        }
        return new Interface(link, resolution, offsetNs);
    }

    private static int number(ByteBuffer body, int type) {
        if (type == ENHANCED_PACKET) {
            return body.getInt();
        }
        int number = body.getShort() & 0xFFFF;
        body.getShort();
        return number;
    }

    /** Reads what follows an interface's number, which is the same in old blocks. */
    private void packet(ByteBuffer body, int number, Arrival into) throws IOException {
        if (number < 0 || number >= interfaces.size()) {
            throw fault("it came over interface " + Integer.toUnsignedString(number) + " of " + interfaces.size());
        }
        Interface by = interfaces.get(number);
        if (!isKnown(by.link)) {
            into.bytes = 0;
            return;
        }
        long time = (long) body.getInt() << 32 | Integer.toUnsignedLong(body.getInt());
        int captured = captured(body.getInt(), Math.min(MAX_CAPTURED, body.remaining() - 4));
        int length = body.getInt();
        body.limit(body.position() + captured);
        frame(by, ns(by, time), length, body, into);
    }

    private long ns(Interface by, long time) throws IOException {
        try {
            if (time < 0) {
                throw new ArithmeticException();
            }
            return Math.addExact(by.offsetNs, fromUnits(by, time));
        } catch (ArithmeticException e) {
            throw fault("its time is " + Long.toUnsignedString(time) + " units and does not fit into 64 bits of ns");
        }
    }

    private static long fromUnits(Interface by, long time) {
        if (by.resolution >= 128) {
            int digits = by.resolution - 128;
            long fraction = time & (1L << digits) - 1;
            return Math.multiplyExact(time >>> digits, 1_000_000_000) + (long) (fraction * 1e9 / (1L << digits));
        }
        long unit = 1;
        for (int i = Math.min(by.resolution, 9); i != Math.max(by.resolution, 9); i++) {
            unit *= 10;
        }
        return by.resolution <= 9 ? Math.multiplyExact(time, unit) : time / unit;
    }

    /** Takes from a frame what an arrival has; leaves 0 bytes where it is left out. */
    private void frame(Interface by, long ns, int length, ByteBuffer frame, Arrival into) throws IOException {
        int captured = frame.remaining();
        at(ns, into);
        into.bytes = 0;
        into.service = 0;
        if (length < 1 || length > MAX_BYTES) {
            return;
        }
        frame.order(ByteOrder.BIG_ENDIAN);
        try {
            int version = version(by.link, frame);
            int ip = frame.position();
            if (version == 4) {
                into.trafficClass = frame.get(ip + 1) & 0xFF;
                into.to(frame.getInt(ip + 16));
                into.bytes = length;
            } else if (version == 6) {
                into.trafficClass = frame.getShort(ip) >> 4 & 0xFF;
                into.high = frame.getLong(ip + 24);
                into.low = frame.getLong(ip + 32);
                into.bytes = length;
            }
        } catch (BufferUnderflowException | IndexOutOfBoundsException | IllegalArgumentException e) {
            if (captured < length) {
                throw fault("of its " + length + " bytes " + captured
                        + " were captured, not its destination: capture more of each (tcpdump -s)");
            }
            // It came whole, and is shorter than a header of IP.
            into.bytes = 0;
        }
    }

    /** Returns the version of IP at which the frame's position then stands; 0 where it is something else. */
    private static int version(int link, ByteBuffer frame) {
        int type = link == RAW_IPV4 ? TYPE_IPV4 : link == RAW_IPV6 ? TYPE_IPV6 : -1;
        if (link == ETHERNET) {
            frame.position(frame.position() + 12);
            type = frame.getShort() & 0xFFFF;
        } else if (link == LINUX_COOKED) {
            frame.position(frame.position() + 14);
            type = frame.getShort() & 0xFFFF;
        } else if (link == LINUX_COOKED_2) {
            type = frame.getShort() & 0xFFFF;
            frame.position(frame.position() + COOKED_2_BYTES - Short.BYTES);
        }
        while (type == TYPE_VLAN || type == TYPE_OUTER_VLAN) {
            frame.getShort();
            type = frame.getShort() & 0xFFFF;
        }
        int version = type == TYPE_IPV4 || type == TYPE_IPV6 || type < 0 ? frame.get(frame.position()) >> 4 & 0xF : 0;
        return type < 0 ? version : type == TYPE_IPV4 && version == 4 ? 4 : type == TYPE_IPV6 && version == 6 ? 6 : 0;
    }

    private ByteBuffer read(int bytes, String what) throws IOException {
        byte[] all = in.readNBytes(bytes);
        if (all.length < bytes) {
            throw new EOFException(fault("the file ends inside " + what + ", " + all.length + " of " + bytes
                            + " bytes are there: it was cut")
                    .getMessage());
        }
        return ByteBuffer.wrap(all).order(order);
    }
}
