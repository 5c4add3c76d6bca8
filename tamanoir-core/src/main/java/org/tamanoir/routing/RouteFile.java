package org.tamanoir.routing;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.Anep;

/**
 * Reads routes from a file, as a stream, all of them or none: text, one {@code PREFIX} or {@code PREFIX=NEXTHOP} a line,
 * or the dump of a BGP table in MRT ({@link MrtTable}), plain, in gzip or in bzip2. Prefixes without a next hop of this
 * node, as all in MRT are, are shared out among those given: by BGP's next hop, where there is one, else by their own bits.
 * Where none is given BGP's next hop is the node's, at the port that nodes have.
 *
 * <p>Thread contract: one thread; it holds no more of the file than a line, a record or a packed block. Its reading ends
 * at bounds of bytes and time, and when the thread is interrupted ({@link Unpacked}).
 */
public final class RouteFile {
    private static final int MAX_LINE_BYTES = 1024;

    /** Three times a full table of both families; at most 224 MiB. As many lines of a text may have none. */
    static final int MAX_ROUTES = 4 << 20;

    private final FileProblems problems;
    private final List<NextHop> via;
    private final Function<String, Route> lines;
    private final RouteSet routes = new RouteSet();
    private int emptyLines;

    private RouteFile(FileProblems problems, List<NextHop> via, Function<String, Route> lines) {
        this.problems = problems;
        this.via = List.copyOf(via);
        this.lines = lines;
    }

    /**
     * Reads a file.
     *
     * @param name stands before each problem
     * @param via next hops of this node for prefixes that have none
     * @param peer whose entries of an MRT dump count, by the peer's number in it; -1 = the first entry of each prefix
     * @param lines reads {@code PREFIX=NEXTHOP}, or throws an {@link IllegalArgumentException} in one line
     * @throws RouteFileException if anything is wrong with it
     */
    public static RouteSet read(InputStream in, String name, List<NextHop> via, int peer, Function<String, Route> lines)
            throws RouteFileException {
        FileProblems problems = new FileProblems(name);
        RouteFile file = new RouteFile(problems, via, lines);
        problems.during(() -> file.read(Unpacked.of(in), peer));
        return file.routes;
    }

    private void read(BufferedInputStream in, int peer) throws IOException {
        byte[] start = Unpacked.start(in, MrtRecords.HEADER_BYTES);
        if (Unpacked.isPacked(in)) {
            problem("", "is packed twice; unpack it once");
        } else if (isUtf16(start)) {
            problem("", "is text in UTF-16; save it in UTF-8");
        } else if (isText(start)) {
            if (new String(start, StandardCharsets.UTF_8).startsWith("\uFEFF")) {
                in.skipNBytes(3); // The byte order mark, by which some editors begin.
            }
            readLines(in);
        } else {
            new MrtTable(in, this, peer).read();
        }
        if (problems.isEmpty() && routes.size() == 0) {
            problem("", "has no route" + (routes.withoutNextHop > 0 ? " with a next hop; give --via" : ""));
        }
    }

    /** By its byte order mark, FE FF or FF FE; as the time of an MRT header that would be in 2105 or 2106. */
    private static boolean isUtf16(byte[] start) {
        return start.length > 1 && (start[0] & start[1] & 0xFF) == 0xFE && (start[0] ^ start[1]) == 1;
    }

    /** An MRT header has a type and a subtype below 256, so two zero bytes. */
    private static boolean isText(byte[] start) {
        for (byte b : start) {
            if (b == 0) {
                return false;
            }
        }
        return true;
    }

    private void readLines(InputStream in) throws IOException {
        byte[] line = new byte[MAX_LINE_BYTES];
        int length = 0;
        int number = 1;
        for (int b = in.read(); b >= 0; b = in.read()) {
            if (b != '\n') {
                if (length == line.length) {
                    problem(
                            ":" + number,
                            "a line of more than " + MAX_LINE_BYTES + " bytes: this is no list of routes");
                    return;
                }
                line[length++] = (byte) b;
                continue;
            }
            readLine(new String(line, 0, length, StandardCharsets.UTF_8).strip(), number++);
            length = 0;
            if (problems.isFull()) {
                // Names of next hops are looked up: each line may take seconds.
                problems.endEarly();
                return;
            }
        }
        if (length > 0) {
            // 10.0.1.0/24 may have become 10.0.1.0, and port 3322 port 33.
            problem(":" + number, "the last line has no line break behind it, as if the file were cut off; add one");
        }
    }

    private void readLine(String text, int number) throws IOException {
        if (text.isEmpty() || text.startsWith("#")) {
            if (++emptyLines > MAX_ROUTES) {
                throw new IOException("it has more than " + MAX_ROUTES + " lines without a route; leave out some");
            }
            return;
        }
        try {
            if (text.indexOf('=') >= 0) {
                Route route = lines.apply(text);
                put(route.prefix(), route.nextHop());
                return;
            }
            Prefix prefix = Prefix.parse(text);
            NextHop nextHop = byItself(prefix);
            if (nextHop == null) {
                problem(":" + number, text + ": no next hop; write " + text + "=HOST:PORT, or give --via");
            } else {
                put(prefix, nextHop);
            }
        } catch (IllegalArgumentException e) {
            problem(":" + number, String.valueOf(e.getMessage()));
        }
    }

    /** Returns the next hop for what goes by a router; null where none is given, and the router's address leads nowhere. */
    @Nullable
    NextHop by(long high, long low) {
        if (!via.isEmpty()) {
            return share(via, high, low);
        }
        InetAddress router = Addresses.of(high, low);
        return router.isAnyLocalAddress() || router.isLinkLocalAddress() || router.isMulticastAddress()
                ? null
                : new NextHop(router, Anep.DEFAULT_PORT, NextHop.Transport.SAME, NextHop.Kind.ACTIVE_NODE);
    }

    /** Returns the next hop of a prefix that goes by no router; null where none is given. */
    @Nullable
    NextHop byItself(Prefix prefix) {
        return via.isEmpty() ? null : share(via, prefix.high(), prefix.low());
    }

    /** Returns one of some next hops, the same for the same two numbers. */
    static NextHop share(List<NextHop> via, long high, long low) {
        long hash = (high ^ Long.rotateLeft(low, 32)) * 0x9E37_79B9_7F4A_7C15L;
        return via.get((int) Long.remainderUnsigned(hash ^ hash >>> 32, via.size()));
    }

    /** Adds a problem at a place in the file. */
    void problem(String where, String text) {
        problems.add(where, text);
    }

    /** Counts a prefix that the table has no place for. */
    void leaveOut() {
        routes.leftOut++;
    }

    /** Counts a prefix for which there is no next hop. */
    void leaveOutWithoutNextHop() {
        routes.withoutNextHop++;
    }

    void put(Prefix prefix, NextHop nextHop) throws IOException {
        routes.put(prefix, nextHop);
        if (routes.size() > MAX_ROUTES) {
            throw new IOException("it has more than " + MAX_ROUTES + " routes; leave out some");
        }
    }
}
