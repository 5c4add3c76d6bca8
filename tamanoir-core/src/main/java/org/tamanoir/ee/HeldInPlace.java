package org.tamanoir.ee;

import org.tamanoir.anep.Packet;
import org.tamanoir.service.Verdict;

/**
 * A packet that its service holds, where it lies; the stream waits with it.
 *
 * <p>Thread contract: the stream's thread.
 */
final class HeldInPlace implements Wait {
    private final StreamInstance instance;
    private final Packet packet;
    private final Suspended suspended;

    HeldInPlace(StreamInstance instance, Packet packet, Suspended suspended) {
        this.instance = instance;
        this.packet = packet;
        this.suspended = suspended;
    }

    @Override
    public boolean advance() {
        Verdict verdict = suspended.verdict();
        if (verdict != null) {
            suspended.end();
            instance.path.goOn(verdict, suspended);
        }
        return verdict != null;
    }

    @Override
    public void end(boolean isLate) {
        Verdict said = suspended.end();
        if (isLate && said != null) {
            instance.path.goOn(said, suspended);
        } else if (isLate) {
            instance.path.policies.handleExpired();
        } else {
            instance.path.drop(instance.endReason(), packet);
        }
    }
}
