package org.tamanoir.node.config;

import com.google.common.net.InetAddresses;
import java.net.InetAddress;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Function;
import java.util.function.LongSupplier;

/**
 * Looks up the hosts of a file's next hops: each name once, and within bounds, since a name server may take seconds for
 * each. Thread contract: one thread.
 */
final class HostNames implements Function<Endpoint, InetAddress> {
    static final int MAX_NAMES = 1024;
    /** Of all look-ups together; the last one may take longer. */
    static final Duration MAX_TIME = Duration.ofSeconds(30);

    private final Function<Endpoint, InetAddress> addresses;
    private final LongSupplier nanoTime;
    private final Map<String, InetAddress> known = new HashMap<>();
    private long leftNs = MAX_TIME.toNanos();

    HostNames() {
        this(Endpoint::address, System::nanoTime);
    }

    /** @param addresses looks up a host, or throws an {@link IllegalArgumentException} in one line */
    HostNames(Function<Endpoint, InetAddress> addresses, LongSupplier nanoTime) {
        this.addresses = addresses;
        this.nanoTime = nanoTime;
    }

    /**
     * Returns the host's address.
     *
     * @throws IllegalArgumentException in one line, if it is unknown, or a name beyond the bounds
     */
    @Override
    public InetAddress apply(Endpoint endpoint) {
        String host = endpoint.host();
        InetAddress address = known.get(host);
        if (address != null) {
            return address;
        }
        if (InetAddresses.isInetAddress(host)) {
            return addresses.apply(endpoint);
        }
        if (known.size() == MAX_NAMES) {
            throw new IllegalArgumentException(
                    "host '" + host + "' is one name more than " + MAX_NAMES + "; write addresses in place of names");
        }
        if (leftNs <= 0) {
            throw new IllegalArgumentException("host '" + host + "' is not looked up, since other names took "
                    + MAX_TIME.toSeconds() + " s; write addresses in place of names");
        }
        long begin = nanoTime.getAsLong();
        try {
            address = addresses.apply(endpoint);
        } finally {
            leftNs -= nanoTime.getAsLong() - begin;
        }
        known.put(host, address);
        return address;
    }
}
