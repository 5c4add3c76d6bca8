package org.tamanoir.routing;

import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.zip.ZipException;

/**
 * Reads routes from a file, as a stream, all of them or none: text, one {@code PREFIX} or {@code PREFIX=NEXTHOP} a line,
 * or the dump of a BGP table in MRT ({@link MrtTable}), plain or in gzip. Prefixes without a next hop of this node, as all
 * in MRT, are shared out among those given: by their own bits in text, by BGP's next hop in MRT.
 *
 * <p>Thread contract: one thread; it holds no more of the file than a line or a record.
 */
public final class RouteFile {
    private static final int MAX_PROBLEMS = 20;
    private static final int MAX_LINE_BYTES = 1024;

    /** Three times a full table of both families; at most 224 MiB. As many lines of a text may have none. */
    static final int MAX_ROUTES = 4 << 20;

    private final String name;
    private final List<NextHop> via;
    private final Function<String, Route> lines;
    private final RouteSet routes = new RouteSet();
    private final List<String> problems = new ArrayList<>();
    private final List<String> withoutContent = new ArrayList<>();
    private long more;
    private int emptyLines;

    private RouteFile(String name, List<NextHop> via, Function<String, Route> lines) {
        this.name = name;
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
        RouteFile file = new RouteFile(name, via, lines);
        try {
            file.read(in, peer);
        } catch (EOFException e) {
            file.problem("", "ends too early: it is cut off; get it again");
        } catch (ZipException e) {
            file.problem("", "is damaged (" + e.getMessage() + "); get it again");
        } catch (IOException e) {
            file.problem("", "cannot be read: " + e.getMessage());
        }
        if (file.problems.isEmpty() && file.routes.size() == 0) {
            file.problem("", "has no route");
        }
        if (file.more > 0) {
            file.add("", file.more + " more problems");
        }
        if (!file.problems.isEmpty()) {
            throw new RouteFileException(file.problems, file.withoutContent);
        }
        return file.routes;
    }

    private void read(InputStream raw, int peer) throws IOException {
        BufferedInputStream in = new BufferedInputStream(raw, 1 << 16);
        byte[] start = start(in);
        if (start.length >= 2 && start[0] == 0x1F && start[1] == (byte) 0x8B) {
            try (GzipMembers unpacked = new GzipMembers(in)) {
                readUnpacked(new BufferedInputStream(unpacked, 1 << 16), peer);
            }
        } else {
            readUnpacked(in, peer);
        }
    }

    private void readUnpacked(BufferedInputStream in, int peer) throws IOException {
        byte[] start = start(in);
        if (new String(start, StandardCharsets.ISO_8859_1).startsWith("BZh")) {
            problem("", "is packed by bzip2, which is not read; unpack it by 'bunzip2', or pack it by gzip");
        } else if (isText(start)) {
            readLines(in);
        } else if (via.isEmpty()) {
            problem("", "is no text: an MRT dump needs --via with next hops of this node");
        } else {
            new MrtTable(in, this, peer).read();
        }
    }

    /** Returns up to as many first bytes as an MRT header has; the stream stands before them still. */
    private static byte[] start(BufferedInputStream in) throws IOException {
        in.mark(MrtTable.HEADER_BYTES);
        byte[] start = in.readNBytes(MrtTable.HEADER_BYTES);
        in.reset();
        return start;
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
        for (int b = in.read(); b >= 0 || length > 0; b = in.read()) {
            if (b >= 0 && b != '\n') {
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
            if (problems.size() == MAX_PROBLEMS) {
                // Names of next hops are looked up: each line may take seconds.
                add("", "reading ended here, there may be more problems");
                return;
            }
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
            if (via.isEmpty()) {
                problem(":" + number, text + ": no next hop; write " + text + "=HOST:PORT, or give --via");
            } else {
                put(prefix, prefix.high(), prefix.low());
            }
        } catch (IllegalArgumentException e) {
            problem(":" + number, String.valueOf(e.getMessage()));
        }
    }

    /** Puts a prefix by one of the next hops given, the same for the same two numbers. */
    void put(Prefix prefix, long high, long low) throws IOException {
        long hash = (high ^ Long.rotateLeft(low, 32)) * 0x9E37_79B9_7F4A_7C15L;
        put(prefix, via.get((int) Long.remainderUnsigned(hash ^ hash >>> 32, via.size())));
    }

    /** Adds a problem at a place in the file. */
    void problem(String where, String text) {
        if (problems.size() < MAX_PROBLEMS) {
            add(where, text);
        } else {
            more++;
        }
    }

    private void add(String where, String text) {
        problems.add(name + where + ": " + text);
        withoutContent.add(name + where + ": "
                + (where.isEmpty() ? text : "is wrong; 'node --validate --routes' on the node's host says why"));
    }

    private void put(Prefix prefix, NextHop nextHop) throws IOException {
        if (routes.size() >= MAX_ROUTES) {
            throw new IOException("it has more than " + MAX_ROUTES + " routes; leave out some");
        }
        routes.put(prefix, nextHop);
    }
}
