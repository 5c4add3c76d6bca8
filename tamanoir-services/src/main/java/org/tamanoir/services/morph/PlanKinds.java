package org.tamanoir.services.morph;

import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.tamanoir.message.MessageHandler;
import org.tamanoir.service.ControlHost;
import org.tamanoir.services.morph.handler.HandlerKinds;
import org.tamanoir.services.morph.handler.PlanNames;

/** The kinds that ship, and {@code service}, which is code of others. Any threads. */
final class PlanKinds implements HandlerMaker {
    private static final String SERVICE = "service";

    private final ControlHost host;
    private final Set<String> kinds = new TreeSet<>(HandlerKinds.all().keySet());

    PlanKinds(ControlHost host) {
        this.host = host;
        kinds.add(SERVICE);
    }

    @Override
    public Set<String> kinds() {
        return kinds;
    }

    @Override
    public MessageHandler make(String path, String kind, @Nullable Object settings, PlanNames names) {
        return kind.equals(SERVICE)
                ? ServiceHandler.make(path, settings, names, host)
                : HandlerKinds.make(path, kind, settings, names);
    }
}
