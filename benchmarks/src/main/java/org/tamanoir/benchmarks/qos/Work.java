package org.tamanoir.benchmarks.qos;

import java.util.concurrent.atomic.LongAdder;
import java.util.function.Supplier;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.service.FailurePolicy;
import org.tamanoir.service.Service;
import org.tamanoir.service.ServiceConfig;
import org.tamanoir.services.Monitor;

/**
 * What a service under load does.
 *
 * @param service its name
 * @param cpuNs processor time that it burns on each packet
 * @param leastGrowth by which it multiplies a packet's bytes, at least; 1 = packets stay as they are
 * @param mostGrowth and at most; it wanders between the two
 * @param invocations packets that it processed, in all instances
 * @param factory makes its instances
 */
record Work(
        String service,
        long cpuNs,
        double leastGrowth,
        double mostGrowth,
        LongAdder invocations,
        Supplier<? extends Service> factory) {
    /** Burns processor time and leaves packets as they are. */
    static Work burning(String service, long cpuUs) {
        return growing(service, cpuUs, 1, 1);
    }

    /** Burns processor time and makes packets longer. */
    static Work growing(String service, long cpuUs, double leastGrowth, double mostGrowth) {
        LongAdder invocations = new LongAdder();
        long cpuNs = cpuUs * 1000;
        return new Work(
                service,
                cpuNs,
                leastGrowth,
                mostGrowth,
                invocations,
                () -> new LoadService(cpuNs, leastGrowth, mostGrowth, invocations));
    }

    /** The Monitor service; it does not mark, since the mark is what packets are classified by. */
    static Work monitor() {
        return new Work(Monitor.class.getName(), 0, 1, 1, new LongAdder(), Monitor::new);
    }

    ServiceDefinition definition() {
        ServiceConfig config = service.equals(Monitor.class.getName())
                ? new ServiceConfig(java.util.Map.of("mark", "none"))
                : ServiceConfig.EMPTY;
        return new ServiceDefinition(service, factory, config, FailurePolicy.DROP);
    }

    /** The same name, for a hop that has nothing to do. */
    Work idle() {
        return burning(service, 0);
    }
}
