package org.tamanoir.services.morph;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Supplier;
import org.tamanoir.format.FormatRegistry;
import org.tamanoir.format.FormatSource;
import org.tamanoir.service.ControlHost;
import org.tamanoir.service.Service;

/** A node for controls: real time, a registry, services by name. */
final class TestNode implements ControlHost {
    final Map<String, Supplier<Service>> services = new HashMap<>();
    private final FormatRegistry registry = new FormatRegistry(64, 1 << 20);

    TestNode() {
        registry.add(Flights.FLIGHT);
        registry.add(Flights.LATE);
    }

    @Override
    public String serviceName() {
        return "flights";
    }

    @Override
    public FormatSource formats() {
        return FormatSource.of(registry);
    }

    @Override
    public long nanoTime() {
        return System.nanoTime();
    }

    @Override
    public Service instance(String name, Duration timeout) {
        Supplier<Service> maker = services.get(name);
        if (maker == null) {
            throw new IllegalArgumentException("no service " + name + " in this node");
        }
        return maker.get();
    }
}
