package org.tamanoir.services;

import org.tamanoir.anep.Packet;
import org.tamanoir.anep.ServiceKey;
import org.tamanoir.service.Counter;
import org.tamanoir.service.Service;
import org.tamanoir.service.ServiceConfig;
import org.tamanoir.service.Settings;
import org.tamanoir.service.Verdict;

/**
 * Answers every packet toward its source, with source and destination identifiers swapped where it has both and
 * the payload as it came.
 *
 * <p>The answer names no service: two nodes that both run Echo would else send a packet with a forged source to
 * and fro until its hop budget ends.
 *
 * <p>Settings: none. Counters: {@code packets}, {@code bytes} (whole packets). Drops nothing.
 */
@Settings
public final class Echo extends Service {
    private Counter packets = new Counter("packets");
    private Counter bytes = new Counter("bytes");

    @Override
    public void init(ServiceConfig config) {
        config.allow();
        packets = counter("packets");
        bytes = counter("bytes");
    }

    @Override
    public Verdict process(Packet packet) {
        if (packet.serviceKey() != ServiceKey.NONE) {
            packet.setServiceKey(ServiceKey.NONE);
        }
        packets.add(1);
        bytes.add(packet.length());
        return Verdict.REPLY;
    }
}
