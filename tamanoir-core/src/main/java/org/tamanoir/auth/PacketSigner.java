package org.tamanoir.auth;

import org.tamanoir.anep.Packet;

/**
 * Signs packets with one key, for those who send them.
 *
 * <p>Thread contract: one thread.
 */
public final class PacketSigner {
    private final AuthKey key;
    private final Hmac hmac = new Hmac();

    public PacketSigner(AuthKey key) {
        this.key = key;
    }

    /**
     * Signs a packet in place.
     *
     * @throws IllegalStateException if it has no authentication option
     */
    public void sign(Packet packet) {
        PacketGuard.sign(hmac, key, packet);
    }
}
