package org.tamanoir.node.config;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.tamanoir.routing.NextHop;
import org.tamanoir.routing.RouteFile;
import org.tamanoir.routing.RouteFileException;
import org.tamanoir.routing.RouteSet;
import org.tamanoir.transport.RegularFile;

/** Reads files of routes with next hops as the command line writes them. Stateless; any thread. */
public final class RouteFiles {
    /** In place of a peer's number: the first entry of each prefix. */
    public static final int FIRST_PEER = -1;

    private RouteFiles() {}

    private interface Opening {
        InputStream open(Path file) throws IOException;
    }

    /** Returns a text of prefixes that were left out, with another one before each of its parts; empty = there are none. */
    public static String leftOut(String before, int inside, int withoutNextHop) {
        return (inside == 0 ? "" : before + inside + " prefixes of IPv4 inside IPv6 left out")
                + (withoutNextHop == 0
                        ? ""
                        : before + withoutNextHop + " prefixes without a next hop left out, which --via would lead on");
    }

    /** Reads a file as {@link #read} does; what is no regular one is refused, for a pipe may never end, nor open. */
    public static RouteSet readRegular(Path file, List<String> via, int peer) throws RouteFileException {
        return read(file, via, peer, RegularFile::open);
    }

    /**
     * Reads a file, or a pipe.
     *
     * @param via next hops for prefixes that have none, each {@code HOST:PORT[,WORD...]}
     * @param peer of an MRT dump
     * @throws RouteFileException with all problems; then nothing counts
     */
    public static RouteSet read(Path file, List<String> via, int peer) throws RouteFileException {
        return read(file, via, peer, Files::newInputStream);
    }

    private static RouteSet read(Path file, List<String> via, int peer, Opening opening) throws RouteFileException {
        List<NextHop> hops = new ArrayList<>();
        for (String text : via) {
            try {
                hops.add(RouteTable.nextHop(text));
            } catch (IllegalArgumentException e) {
                throw new RouteFileException("--via " + text + ": " + e.getMessage());
            }
        }
        HostNames names = new HostNames();
        try (InputStream in = opening.open(file)) {
            return RouteFile.read(in, file.toString(), hops, peer, text -> RouteTable.parse(text, names));
        } catch (OutOfMemoryError e) { // What it took is free again.
            long heap = Runtime.getRuntime().maxMemory() >> 20;
            throw new RouteFileException(
                    file + ": its routes do not fit into a heap of " + heap + " MiB; give the JVM more by -Xmx");
        } catch (IOException e) {
            throw new RouteFileException(file + ": cannot be read: no such file, or no permission; correct the path");
        }
    }
}
