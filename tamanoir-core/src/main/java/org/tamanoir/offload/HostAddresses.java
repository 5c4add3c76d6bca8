package org.tamanoir.offload;

import java.io.IOException;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.platform.Causes;
import org.tamanoir.routing.Addresses;

/**
 * Where packets end at this host: the addresses of its interfaces, as they were at most some seconds ago, and those that
 * no router passes on.
 *
 * <p>Thread contract: {@link #has} any thread; {@link #refresh} one.
 */
public final class HostAddresses {
    private static final Logger LOG = LoggerFactory.getLogger(HostAddresses.class);
    /** Between looks at the interfaces, each of which takes some system calls. */
    private static final long REFRESH_NS = TimeUnit.SECONDS.toNanos(1);
    /** A hundredth of a thread's time at most goes into looking, however many interfaces there are. */
    private static final long LOOKS_SHARE = 100;

    /**
     * A line for each IPv6 address, which begins with its 32 digits. NetworkInterface reads the file of the process's
     * first thread, which may be in another network namespace.
     */
    private static final Path IPV6 = Path.of("/proc/thread-self/net/if_inet6");

    /** A hash table with open addressing: pairs of upper and lower 64 bits, 0 and 0 for empty; never full. */
    private volatile long[] table = new long[4];

    private long refreshedNs;
    private long pauseNs;

    HostAddresses() {
        read();
    }

    /** Looks at the interfaces, if that was long enough ago. */
    void refresh() {
        if (System.nanoTime() - refreshedNs >= pauseNs) {
            read();
        }
    }

    private void read() {
        long begunNs = System.nanoTime();
        try {
            List<InetAddress> found = new ArrayList<>();
            NetworkInterface.networkInterfaces()
                    .flatMap(each -> each.getInterfaceAddresses().stream())
                    .forEach(each -> {
                        found.add(each.getAddress());
                        if (each.getBroadcast() != null) {
                            found.add(each.getBroadcast());
                        }
                    });
            if (Files.isReadable(IPV6)) {
                for (String line : Files.readAllLines(IPV6)) {
                    found.add(InetAddress.getByAddress(HexFormat.of().parseHex(line, 0, 32)));
                }
            }
            // A quarter full at most.
            long[] next = new long[Math.max(4, Integer.highestOneBit(found.size()) << 4)];
            found.forEach(each -> put(next, each));
            table = next;
        } catch (IOException | RuntimeException e) {
            LOG.warn("the addresses of this host cannot be read, those of before stay: {}", Causes.text(e));
        }
        refreshedNs = System.nanoTime();
        pauseNs = Math.max(REFRESH_NS, LOOKS_SHARE * (refreshedNs - begunNs));
    }

    private static void put(long[] table, InetAddress address) {
        long high = Addresses.high(address);
        long low = Addresses.low(address);
        int at = slot(table, high, low);
        table[at] = high;
        table[at + 1] = low;
    }

    /** Returns where an address stands, or would. */
    private static int slot(long[] table, long high, long low) {
        int mask = table.length - 1;
        int at = (int) ((low ^ high * 31) * 0x9E37_79B9_7F4A_7C15L >>> 32) << 1 & mask;
        while ((table[at + 1] != low || table[at] != high) && (table[at] | table[at + 1]) != 0) {
            at = at + 2 & mask;
        }
        return at;
    }

    /** Returns whether packets to this address end here. */
    boolean has(long high, long low) {
        if (isNeverInTransit(high, low)) {
            return true;
        }
        long[] now = table;
        int at = slot(now, high, low);
        return now[at] == high && now[at + 1] == low; // 0 and 0 was sorted out above
    }

    /** Returns whether it is an unspecified, loopback, link-local, multicast or reserved address. */
    private static boolean isNeverInTransit(long high, long low) {
        if (isOfOneLink(high, low)) {
            return true;
        }
        if (isIpv4(high, low)) {
            int first = (int) low >>> 24;
            return first == 0 || first == 127 || first >= 224;
        }
        return (high == 0 && low >>> 1 == 0) || high >>> 56 == 0xFF;
    }

    /** Returns whether an address means something on its link alone: fe80::/10, 169.254.0.0/16. */
    public static boolean isOfOneLink(long high, long low) {
        return isIpv4(high, low) ? (int) low >>> 16 == 0xA9FE : high >>> 54 == 0xFE80 >>> 6;
    }

    public static boolean isIpv4(long high, long low) {
        return high == 0 && low >>> 32 == 0xFFFF;
    }

    /** Returns the same of an address that the JDK gave. */
    boolean has(InetAddress address) {
        return has(Addresses.high(address), Addresses.low(address));
    }
}
