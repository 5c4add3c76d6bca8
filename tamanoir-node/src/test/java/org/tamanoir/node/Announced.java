package org.tamanoir.node;

import org.tamanoir.anep.Packet;
import org.tamanoir.service.Service;
import org.tamanoir.service.Verdict;

/** A service that the class path announces, as a jar of services does. */
public final class Announced extends Service {
    static {
        System.setProperty("org.tamanoir.node.Announced.initialised", "true");
    }

    public Announced() {}

    @Override
    public Verdict process(Packet packet) {
        return Verdict.FORWARD;
    }
}
