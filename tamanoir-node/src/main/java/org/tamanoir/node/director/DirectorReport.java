package org.tamanoir.node.director;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.tamanoir.cluster.DirectorStatus;
import org.tamanoir.cluster.config.ClusterService;
import org.tamanoir.cluster.config.DirectorConfig;
import org.tamanoir.cluster.lvs.Protocol;
import org.tamanoir.cluster.lvs.VirtualAddress;
import org.tamanoir.node.cli.Output;
import org.tamanoir.node.config.Quantity;

/** What a director says on standard output: lines, or JSON objects. One thread. */
final class DirectorReport {
    private final Output output;
    private final Map<String, String> states = new HashMap<>();
    private @Nullable Boolean ready;
    private @Nullable Boolean active;

    DirectorReport(Output output) {
        this.output = output;
    }

    /** The file is good. */
    void valid(String file, DirectorSettings settings) {
        Duration outAfter = settings.director().health().outAfter();
        Map<String, Object> event = new LinkedHashMap<>();
        event.put("file", file);
        event.put("ok", true);
        event.put("outAfterMs", outAfter.toMillis());
        output.json(event);
        output.line(file + ": OK; " + outAfter(outAfter));
    }

    /** The table is as wanted, the API listens. */
    void started(DirectorConfig config, @Nullable String api) {
        Duration outAfter = config.health().outAfter();
        Map<String, @Nullable Object> event = event("started");
        event.put("name", config.name());
        event.put("services", services(config).stream().map(Served::at).toList());
        event.put("backEnds", config.backEnds().size());
        event.put("api", api == null ? "off" : api);
        event.put("outAfterMs", outAfter.toMillis());
        output.json(event);
        services(config).forEach(served -> output.line("service " + served.text));
        output.line("back-ends listed: " + config.backEnds().size() + ", registration "
                + (config.registration() == null ? "off" : "on"));
        output.line(outAfter(outAfter));
        output.line("API: " + (api == null ? "off" : api));
        output.line("director " + config.name() + " has started");
    }

    private record Served(String at, String text) {}

    private static List<Served> services(DirectorConfig config) {
        List<Served> all = new ArrayList<>();
        for (ClusterService service : config.services()) {
            for (Protocol protocol : Protocol.values()) {
                if (service.protocols().contains(protocol)) {
                    String at = new VirtualAddress(protocol, service.address(), service.port()).toString();
                    String how = service.forwarding().label() + ", "
                            + service.scheduler().label();
                    all.add(new Served(at, service.name() + ": " + at + ", " + how));
                }
            }
        }
        return all;
    }

    private static String outAfter(Duration time) {
        return "a dead back-end is out after " + Quantity.toString(time) + " at most";
    }

    /** Tells what is other than at the last call. */
    void changes(DirectorStatus status) {
        Set<String> gone = new HashSet<>(states.keySet());
        for (DirectorStatus.Member backEnd : status.backEnds()) {
            gone.remove(backEnd.name());
            String before = states.put(backEnd.name(), backEnd.state());
            if (!backEnd.state().equals(before)) {
                changed(backEnd.name(), before, backEnd.state(), backEnd.reason());
            }
        }
        gone.forEach(name -> changed(name, states.remove(name), "gone", null));
        if (ready == null ? !status.ready() : ready != status.ready()) {
            Map<String, @Nullable Object> event = event("ready");
            event.put("ready", status.ready());
            event.put("problem", status.problem());
            output.json(event);
            output.line(status.ready() ? "ready" : "not ready: " + status.problem());
        }
        ready = status.ready();
        if (active == null ? !status.active() : active != status.active()) {
            Map<String, @Nullable Object> event = event("active");
            event.put("active", status.active());
            output.json(event);
            output.line(
                    status.active()
                            ? "active: the virtual addresses are here"
                            : "stand-by: the virtual addresses are not here");
        }
        active = status.active();
    }

    private void changed(String name, @Nullable String before, String state, @Nullable String reason) {
        Map<String, @Nullable Object> event = event("back-end");
        event.put("name", name);
        event.put("from", before);
        event.put("state", state);
        event.put("reason", reason);
        output.json(event);
        output.line("back-end " + name + ": " + (before == null ? "" : before + " -> ") + state
                + (reason == null ? "" : ": " + reason));
    }

    /** It has ended. */
    void stopped(boolean removed) {
        Map<String, @Nullable Object> event = event("stopped");
        event.put("virtualServicesStay", !removed);
        output.json(event);
        output.line(
                removed
                        ? "stopped; the virtual services are removed"
                        : "stopped; the virtual services stay, and streams go on: a director that starts takes them "
                                + "over, 'director remove' takes them away");
    }

    private static Map<String, @Nullable Object> event(String name) {
        Map<String, @Nullable Object> event = new LinkedHashMap<>();
        event.put("event", name);
        event.put("timeMs", System.currentTimeMillis());
        return event;
    }
}
