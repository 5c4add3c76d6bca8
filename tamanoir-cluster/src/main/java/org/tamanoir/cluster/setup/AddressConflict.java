package org.tamanoir.cluster.setup;

import java.io.IOException;
import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.tamanoir.cluster.ClusterException;

/**
 * Finds out whether another host has an address, and tells the network that it is here: ARP probe and announcement for
 * IPv4 (RFC 5227), neighbour solicitation and advertisement for IPv6 (RFC 4861, RFC 4862).
 *
 * <p>{@value #PROBES} probes share the patience; the RFCs pause a second or two between them, which is for networks that
 * have just come up. A back-end that has the address quietly, as direct routing wants it, does not answer.
 *
 * <p>Works on the network namespace of the calling thread, needs CAP_NET_RAW. Thread contract: any thread; it waits.
 */
public final class AddressConflict {
    private static final int PROBES = 3; // RFC 5227, section 1.1: PROBE_NUM
    private static final int ANNOUNCEMENTS = 2; // ANNOUNCE_NUM
    private static final int FRAME_OCTETS = 2048;
    private static final byte[] BROADCAST = {-1, -1, -1, -1, -1, -1};

    /** Classic BPF (linux/filter.h): lets neighbour solicitations and advertisements through. */
    private static final int[][] NEIGHBOURS = {
        {0x30, 0, 0, 6}, // the next header
        {0x15, 0, 4, 58}, // is ICMPv6, else drop
        {0x30, 0, 0, 40}, // its type
        {0x15, 1, 0, 135}, // asks: take
        {0x15, 0, 1, 136}, // answers: take, else drop
        {0x06, 0, 0, FRAME_OCTETS},
        {0x06, 0, 0, 0}
    };

    /** Tells from a frame and the hardware address that it came from who claims the address. */
    @FunctionalInterface
    private interface Reader {
        @Nullable
        String claimant(byte[] frame, PacketSocket.Received received);
    }

    private AddressConflict() {}

    /**
     * Asks the network. Interfaces of this host do not count. Where there are no neighbours with hardware addresses, as
     * on the loopback interface, nobody is asked.
     *
     * @param patience how long answers are waited for
     * @return the hardware address of who has it; null = nobody answered
     */
    public static @Nullable String holder(String networkInterface, InetAddress address, Duration patience)
            throws IOException {
        List<String> own = ownHardware();
        if (address instanceof Inet4Address wanted) {
            try (PacketSocket socket = PacketSocket.open(networkInterface, ArpFrame.ETHER_TYPE)) {
                byte[] probe = ArpFrame.probe(socket.hardware(), wanted);
                Reader reader = (frame, received) -> ArpFrame.claimant(frame, received.length(), wanted);
                return ask(socket, probe, BROADCAST, reader, own, patience.toNanos());
            }
        }
        Inet6Address wanted = (Inet6Address) address;
        try (PacketSocket socket = PacketSocket.open(networkInterface, NeighbourFrame.ETHER_TYPE)) {
            byte[] group = NeighbourFrame.solicitedHardware(wanted);
            if (socket.isEthernet()) {
                socket.filter(NEIGHBOURS);
                socket.join(group);
            }
            Reader reader = (frame, received) -> NeighbourFrame.claims(frame, received.length(), wanted)
                    ? HexFormat.ofDelimiter(":").formatHex(received.source())
                    : null;
            return ask(socket, NeighbourFrame.probe(wanted), group, reader, own, patience.toNanos());
        }
    }

    private static List<String> ownHardware() throws IOException {
        try {
            return Host.look().hardware();
        } catch (ClusterException e) {
            throw new IOException(e.getMessage(), e);
        }
    }

    private static @Nullable String ask(
            PacketSocket socket, byte[] probe, byte[] destination, Reader reader, List<String> own, long patienceNs)
            throws IOException {
        if (!socket.isEthernet()) {
            return null;
        }
        byte[] frame = new byte[FRAME_OCTETS];
        long startNs = System.nanoTime();
        for (int sent = 1; sent <= PROBES; sent++) {
            socket.send(probe, destination);
            long untilNs = patienceNs / PROBES * sent;
            for (long leftNs = untilNs; leftNs > 0; leftNs = untilNs - (System.nanoTime() - startNs)) {
                int leftMs = (int) Math.min(Integer.MAX_VALUE, 1 + TimeUnit.NANOSECONDS.toMillis(leftNs));
                PacketSocket.Received received = socket.receive(frame, leftMs);
                String claimant = received.length() < 0 ? null : reader.claimant(frame, received);
                if (claimant != null && !own.contains(claimant)) {
                    return claimant;
                }
            }
        }
        return null;
    }

    /** Tells the network that the address is here now. */
    public static void announce(String networkInterface, InetAddress address) throws IOException {
        boolean ipv4 = address instanceof Inet4Address;
        try (PacketSocket socket =
                PacketSocket.open(networkInterface, ipv4 ? ArpFrame.ETHER_TYPE : NeighbourFrame.ETHER_TYPE)) {
            byte[] frame = ipv4
                    ? ArpFrame.announcement(socket.hardware(), (Inet4Address) address)
                    : NeighbourFrame.announcement(socket.hardware(), (Inet6Address) address);
            byte[] all = ipv4 ? BROADCAST : NeighbourFrame.allNodesHardware();
            for (int sent = 0; socket.isEthernet() && sent < ANNOUNCEMENTS; sent++) {
                socket.send(frame, all); // the second in case that the first is lost
            }
        }
    }
}
