package org.tamanoir.node.reflect;

import java.net.InetSocketAddress;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.tamanoir.cluster.reflect.Reflector;
import org.tamanoir.cluster.reflect.SessionConfig;
import org.tamanoir.cluster.reflect.SessionStatus;
import org.tamanoir.node.cli.Output;
import org.tamanoir.node.config.Endpoint;

/** What a reflector says on standard output: lines, or JSON objects. One thread. */
final class ReflectReport {
    private final Output output;

    ReflectReport(Output output) {
        this.output = output;
    }

    void valid(int sessions) {
        output.json(Map.of("ok", true, "sessions", sessions));
        output.line("OK; sessions: " + sessions);
    }

    void started(List<SessionConfig> sessions, Reflector reflector, String api) {
        List<InetSocketAddress> inputs = reflector.inputs();
        Map<String, Object> event = new LinkedHashMap<>();
        event.put("event", "started");
        event.put("inputs", inputs.stream().map(Endpoint::toString).toList());
        event.put("api", api);
        output.json(event);
        for (int i = 0; i < sessions.size(); i++) {
            SessionConfig session = sessions.get(i);
            output.line("session " + session.name() + ": "
                    + session.format().name().toLowerCase(Locale.ROOT) + " at " + Endpoint.toString(inputs.get(i))
                    + ", members " + session.members().size()
                    + (session.joinFrom().isEmpty() ? "" : ", others join by a cookie"));
        }
        output.line("sockets: " + reflector.explain() + "; API: " + api);
        output.line("the reflector has started");
    }

    /** Tells what became of what came in; as an event of this name. */
    void status(String event, List<SessionStatus> sessions) {
        Map<String, Object> all = new LinkedHashMap<>();
        all.put("event", event);
        all.put("sessions", sessions);
        output.json(all);
        sessions.forEach(session -> output.line(line(event, session)));
    }

    private static String line(String event, SessionStatus session) {
        return String.format(
                Locale.ROOT,
                "%s: session %s: %,d in = %,d reflected + %,d control + refused %s; %,d copies = %,d sent + dropped %s; "
                        + "members %,d",
                event,
                session.name(),
                session.datagramsIn(),
                session.reflected(),
                session.control(),
                session.refused(),
                session.asked(),
                session.sent(),
                session.dropped(),
                session.memberCount());
    }
}
