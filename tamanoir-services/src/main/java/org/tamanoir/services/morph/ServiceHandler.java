package org.tamanoir.services.morph;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.tamanoir.format.Format;
import org.tamanoir.format.Target;
import org.tamanoir.message.Bound;
import org.tamanoir.message.Effect;
import org.tamanoir.message.MessageHandler;
import org.tamanoir.message.Needs;
import org.tamanoir.message.Outlet;
import org.tamanoir.service.ControlHost;
import org.tamanoir.service.DeclaredSettings;
import org.tamanoir.service.Service;
import org.tamanoir.service.ServiceConfig;
import org.tamanoir.services.morph.handler.HandlerSettings;
import org.tamanoir.services.morph.handler.PlanNames;

/**
 * A service of the node as a handler of a chain: a class that extends MessageService, from the class path or deployed, by
 * its name. It handles messages as it does alone, but has no thread and no packets of its own.
 *
 * <p>Thread contract: as {@link MessageHandler}.
 */
final class ServiceHandler implements MessageHandler {
    private static final Duration PATIENCE = Duration.ofSeconds(20);
    private static final long TASKS_NS = 1_000_000_000;

    private final Service service;
    private final MessageHandler handler;
    private final LentHost host;

    private ServiceHandler(Service service, MessageHandler handler, LentHost host) {
        this.service = service;
        this.handler = handler;
        this.host = host;
    }

    /**
     * Makes a handler of a service, which is fetched if the node lacks it.
     *
     * @throws IllegalArgumentException if there is none, it is no handler of messages, or refuses its settings
     */
    static ServiceHandler make(String path, @Nullable Object settings, PlanNames names, ControlHost node) {
        Map<String, Object> tree = new LinkedHashMap<>();
        if (settings instanceof Map<?, ?> map) {
            tree.putAll(PlanTree.keyed(map));
        } else {
            tree.put("name", Objects.requireNonNullElse(settings, ""));
        }
        HandlerSettings read = new HandlerSettings(path, tree, names);
        String name = read.text("name");
        Map<String, String> config = read.textMap("config");
        read.requireNoOthers();
        Service service = node.instance(name, PATIENCE);
        if (!(service instanceof MessageHandler handler)) {
            service.dismiss();
            throw new IllegalArgumentException(path + ": " + name
                    + " handles packets, not messages: a class that extends MessageService is wanted");
        }
        LentHost host = new LentHost(name, node);
        service.attach(host);
        ServiceHandler made = new ServiceHandler(service, handler, host);
        try {
            ServiceConfig given = new ServiceConfig(config);
            DeclaredSettings.of(service.getClass()).require(given);
            service.init(given);
        } catch (Exception | LinkageError e) {
            made.close();
            throw new IllegalArgumentException(path + ": " + name + " refuses its settings: " + Failures.text(e), e);
        }
        return made;
    }

    @Override
    public List<Target> inputs() {
        return handler.inputs();
    }

    @Override
    public int ports() {
        return handler.ports();
    }

    @Override
    public Bound bind(Format input) {
        return handler.bind(input);
    }

    @Override
    public Needs needs() {
        return handler.needs();
    }

    @Override
    public Effect effect() {
        return handler.effect();
    }

    @Override
    public long expire(long nowNs, Outlet outlet) {
        long dueNs = Math.min(host.runDue(nowNs), handler.expire(nowNs, outlet));
        return Math.min(dueNs, nowNs + TASKS_NS); // Tasks of other threads may have come.
    }

    @Override
    public void finish(Outlet outlet) {
        handler.finish(outlet);
    }

    @Override
    public long heldBytes() {
        return handler.heldBytes();
    }

    @Override
    public void close() {
        try {
            service.close();
        } catch (Exception e) {
            throw new IllegalStateException("service " + service.getClass().getName() + " failed to close", e);
        }
    }
}
