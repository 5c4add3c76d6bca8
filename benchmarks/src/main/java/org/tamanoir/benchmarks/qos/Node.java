package org.tamanoir.benchmarks.qos;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.Collection;
import java.util.List;
import org.tamanoir.benchmarks.Load;
import org.tamanoir.catalog.ServiceCatalog;
import org.tamanoir.ee.EeConfig;
import org.tamanoir.ee.ExecutionEnvironment;
import org.tamanoir.qdisc.QosConfig;
import org.tamanoir.routing.NextHop;
import org.tamanoir.routing.Prefix;
import org.tamanoir.routing.Route;
import org.tamanoir.routing.RoutingTable;
import org.tamanoir.sched.QosStatus;
import org.tamanoir.traffic.TrafficSnapshot;

/** An execution environment in this process, with one next hop for everything. */
final class Node implements AutoCloseable {
    private final ExecutionEnvironment environment;

    /**
     * @param next where all packets go
     * @param kind who is there
     */
    Node(Collection<Work> services, QosConfig qos, InetSocketAddress next, NextHop.Kind kind) throws IOException {
        ServiceCatalog catalog = new ServiceCatalog();
        services.forEach(work -> catalog.add(work.definition()));
        NextHop hop = new NextHop(next.getAddress(), next.getPort(), NextHop.Transport.SAME, kind);
        environment = new ExecutionEnvironment(
                EeConfig.defaults().listening(List.of(Load.loopback(0)), List.of(Load.loopback(0))),
                new RoutingTable(List.of(new Route(Prefix.parse("0.0.0.0/0"), hop))),
                catalog);
        try {
            if (!qos.isOff()) {
                environment.qos(qos);
            }
            environment.start();
        } catch (IOException | RuntimeException e) {
            environment.close();
            throw e;
        }
    }

    InetSocketAddress address(boolean udp) {
        return (udp ? environment.udpAddresses() : environment.tcpAddresses()).get(0);
    }

    QosStatus qosStatus() {
        return environment.qosStatus();
    }

    TrafficSnapshot traffic() {
        return environment.traffic();
    }

    @Override
    public void close() {
        environment.close();
    }
}
