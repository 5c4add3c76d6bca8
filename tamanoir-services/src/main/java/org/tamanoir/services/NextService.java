package org.tamanoir.services;

import org.tamanoir.anep.Option;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.ServiceKey;
import org.tamanoir.service.ServiceConfig;
import org.tamanoir.service.Setting;

/**
 * The setting {@code next}: which service the next node shall run on the packet.
 *
 * @param key {@link ServiceKey#NONE} for none
 */
@Setting(
        name = "next",
        standard = "none",
        text = "name of the service that the next node shall run; none: the packet names no service from here on")
public record NextService(long key) {
    /** Reads the setting; without one it is {@code none}. */
    public static NextService of(ServiceConfig config) {
        return of(config, "next", "none");
    }

    /** Reads the setting of this name. */
    public static NextService of(ServiceConfig config, String setting, String defaultName) {
        String name = config.text(setting, defaultName);
        if (name.isBlank()) {
            throw new IllegalArgumentException(setting + ": must name a service, or be none");
        }
        return new NextService(name.equals("none") ? ServiceKey.NONE : ServiceKey.of(name));
    }

    /** Bytes by which {@link #name} lengthens the packet. */
    public int extraBytes(Packet packet) {
        return key == ServiceKey.NONE || packet.has(Option.SERVICE_KEY) ? 0 : Option.SERVICE_KEY.words() * 4;
    }

    /** Names the service in the packet; a packet that names none and shall name none stays as it is. */
    public void name(Packet packet) {
        if (key != packet.serviceKey()) {
            packet.setServiceKey(key);
        }
    }
}
