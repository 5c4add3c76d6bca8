package org.tamanoir.support;

import java.time.Duration;

/**
 * A client, a router and a server in network namespaces of their own:
 *
 * <pre>
 *   client c0 ---- rc router rs ---- s0 server
 *     10.71.1.2  10.71.1.1   10.71.2.1  10.71.2.2
 *     fd71:1::2  fd71:1::1   fd71:2::1  fd71:2::2
 * </pre>
 *
 * <p>Thread contract: as {@link Namespaces}.
 */
public final class TestNet implements AutoCloseable {
    public static final String CLIENT_DEVICE = "c0";
    public static final String ROUTER_CLIENT_DEVICE = "rc";
    public static final String ROUTER_SERVER_DEVICE = "rs";
    public static final String SERVER_DEVICE = "s0";
    public static final String CLIENT4 = "10.71.1.2";
    public static final String CLIENT6 = "fd71:1::2";
    public static final String ROUTER4 = "10.71.1.1";
    public static final String ROUTER6 = "fd71:1::1";
    public static final String SERVER4 = "10.71.2.2";
    public static final String SERVER6 = "fd71:2::2";

    private final Namespaces namespaces;
    private final String client;
    private final String router;
    private final String server;

    /** @param part of the test, a few letters */
    public TestNet(String part) {
        namespaces = new Namespaces(part);
        client = namespaces.add("client");
        router = namespaces.add("router");
        server = namespaces.add("server");
        namespaces.link(client, CLIENT_DEVICE, router, ROUTER_CLIENT_DEVICE);
        namespaces.link(router, ROUTER_SERVER_DEVICE, server, SERVER_DEVICE);
        namespaces.addresses(client, CLIENT_DEVICE, CLIENT4 + "/24", CLIENT6 + "/64");
        namespaces.addresses(router, ROUTER_CLIENT_DEVICE, ROUTER4 + "/24", ROUTER6 + "/64");
        namespaces.addresses(router, ROUTER_SERVER_DEVICE, "10.71.2.1/24", "fd71:2::1/64");
        namespaces.addresses(server, SERVER_DEVICE, SERVER4 + "/24", SERVER6 + "/64");
        namespaces.neighbour(client, CLIENT_DEVICE, router, ROUTER_CLIENT_DEVICE, ROUTER4, ROUTER6);
        namespaces.neighbour(router, ROUTER_CLIENT_DEVICE, client, CLIENT_DEVICE, CLIENT4, CLIENT6);
        namespaces.neighbour(router, ROUTER_SERVER_DEVICE, server, SERVER_DEVICE, SERVER4, SERVER6);
        namespaces.neighbour(server, SERVER_DEVICE, router, ROUTER_SERVER_DEVICE, "10.71.2.1", "fd71:2::1");
        namespaces.batch(client, "route add default via " + ROUTER4, "route add default via " + ROUTER6);
        namespaces.batch(server, "route add default via 10.71.2.1", "route add default via fd71:2::1");
    }

    public Namespaces namespaces() {
        return namespaces;
    }

    public String client() {
        return client;
    }

    public String router() {
        return router;
    }

    public String server() {
        return server;
    }

    /**
     * Has one of the router's interfaces hold packets that came in, which the kernel might join with later ones (GRO): in
     * front of traffic control, and behind XDP's native programs.
     */
    public void hold(String device, Duration time) {
        namespaces.run(router, "ethtool -K " + device + " gro on rx-gro-list on");
        // In there /sys is the namespace's.
        Namespaces.shell("ip netns exec " + router + " sh -c 'echo " + time.toNanos() + " > /sys/class/net/" + device
                + "/gro_flush_timeout'");
    }

    @Override
    public void close() {
        namespaces.close();
    }
}
