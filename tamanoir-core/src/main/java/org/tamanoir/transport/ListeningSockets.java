package org.tamanoir.transport;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The sockets that a process receives on and may share with another one: those that it takes over are used in place of
 * new ones, and what it has opened it can hand over. Both processes then have the same socket, with one queue of
 * connections or datagrams: nothing is refused or lost when one of them closes it.
 *
 * <p>Thread contract: any thread.
 */
public final class ListeningSockets {
    /** For a process that shares none. */
    public static final ListeningSockets NONE = new ListeningSockets(List.of());

    /**
     * A socket that the configuration asks for.
     *
     * @param use as tcp, tls, udp, or of an HTTP server its name
     * @param address as it is asked for: port 0 stands for the same socket in both processes
     */
    public record Wanted(String use, InetSocketAddress address) {
        @Override
        public String toString() {
            return use + " " + address.getAddress().getHostAddress() + ":" + address.getPort();
        }
    }

    private static final class Slot {
        final Wanted wanted;
        int adopted = -1;
        boolean isTaken;
        int open = -1;
        /** The kernel's own for the socket: when that is closed, another may get its number. */
        long cookie;
        /** Of UDP, whose users are in calls on it. */
        @Nullable
        SharedFd shared;

        Slot(Wanted wanted) {
            this.wanted = wanted;
        }

        int copy() throws IOException {
            if (open < 0) {
                throw new IOException(wanted + " is no socket that can be shared: use the native transport");
            }
            try {
                int copy = shared == null ? SharedFd.duplicate(open) : shared.share();
                if (cookie(copy) == cookie) {
                    return copy;
                }
                LibC.close(copy);
                throw new IOException("closed");
            } catch (IOException e) {
                throw new IOException(
                        wanted + " cannot be shared (" + e.getMessage() + "): stop this node, and start the new one "
                                + "without --take-over",
                        e);
            }
        }
    }

    /** Descriptors for another process, in the order of what is wanted. One thread. */
    public static final class Copies implements AutoCloseable {
        private final List<Integer> descriptors = new ArrayList<>();

        private Copies() {}

        /** Sends all. */
        public void sendTo(LocalSocket other) throws IOException {
            for (int descriptor : descriptors) {
                other.sendDescriptor(descriptor);
            }
        }

        @Override
        public void close() {
            descriptors.forEach(LibC::close);
            descriptors.clear();
        }
    }

    private final List<Slot> slots;

    public ListeningSockets(List<Wanted> wanted) {
        slots = wanted.stream().map(Slot::new).toList();
    }

    /** Returns all that is wanted in one line: two processes can share sockets whose lines are the same. */
    public String text() {
        return slots.stream().map(slot -> slot.wanted.toString()).collect(Collectors.joining(", "));
    }

    /** Returns whether such a socket is among them. */
    public boolean wants(String use, InetSocketAddress address) {
        return slots.stream().anyMatch(slot -> slot.wanted.equals(new Wanted(use, address)));
    }

    /** Returns how many there are. */
    public int size() {
        return slots.size();
    }

    /** Has the next one, in their order, use this descriptor, which is this object's from now on. */
    public synchronized void adopt(int descriptor) {
        for (Slot slot : slots) {
            if (slot.adopted < 0) {
                slot.adopted = descriptor;
                return;
            }
        }
        LibC.close(descriptor);
    }

    /** Takes a descriptor that was adopted for such a socket, and is the caller's from now on; -1 = open one. */
    public synchronized int take(String use, InetSocketAddress address) {
        for (Slot slot : slots) {
            if (!slot.isTaken && slot.adopted >= 0 && slot.wanted.equals(new Wanted(use, address))) {
                slot.isTaken = true;
                return slot.adopted;
            }
        }
        return -1;
    }

    /** Takes note of a socket that is bound; one that is not wanted is the process' own. */
    public void opened(String use, InetSocketAddress address, int descriptor) {
        opened(use, address, descriptor, null);
    }

    synchronized void opened(String use, InetSocketAddress address, int descriptor, @Nullable SharedFd shared) {
        for (Slot slot : slots) {
            if (slot.open < 0 && slot.wanted.equals(new Wanted(use, address))) {
                slot.open = descriptor;
                slot.cookie = cookie(descriptor);
                slot.shared = shared;
                return;
            }
        }
    }

    /**
     * Returns copies of the descriptors of all; to close a socket here no longer ends what another process does with it.
     *
     * @throws IOException in one line, if one is not open
     */
    public synchronized Copies share() throws IOException {
        Copies copies = new Copies();
        try {
            for (Slot slot : slots) {
                copies.descriptors.add(slot.copy());
            }
            return copies;
        } catch (IOException e) {
            copies.close();
            throw e;
        }
    }

    /** Returns 0 of what is no socket. */
    private static long cookie(int descriptor) {
        NativeMemory memory = new NativeMemory(16); // u64, and from 8 on its length
        memory.bytes.putInt(8, 8);
        LibC.getsockopt(descriptor, LibC.SOL_SOCKET, LibC.SO_COOKIE, memory.address, memory.address + 8);
        return memory.bytes.getLong(0);
    }

    /** Closes what was adopted and not taken. */
    public synchronized void closeRest() {
        for (Slot slot : slots) {
            if (slot.adopted >= 0 && !slot.isTaken) {
                slot.isTaken = true;
                LibC.close(slot.adopted);
            }
        }
    }
}
