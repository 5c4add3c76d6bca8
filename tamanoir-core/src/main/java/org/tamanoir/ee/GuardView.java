package org.tamanoir.ee;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketSpace;
import org.tamanoir.anep.ParseFault;
import org.tamanoir.auth.Authentication;
import org.tamanoir.auth.PacketGuard;

/**
 * Judges packets where they lie that nothing has been done for yet: the first of a connection, and replies that go back
 * as they came. A packet's number has come when {@link #take} says so, for it may be looked at again.
 *
 * <p>Thread contract: one thread.
 */
final class GuardView {
    private final Authentication authentication;
    private final int typeId;
    private @Nullable PacketGuard guard;
    private @Nullable Packet view;

    GuardView(NodeContext context) {
        this.authentication = context.authentication();
        this.typeId = context.config().typeId();
    }

    /** Returns whether packets are to be judged. */
    boolean isOn() {
        return authentication.guardsAny();
    }

    /** Returns why the whole packet that lies here may go no further; null when it may. */
    @Nullable
    DropReason refusal(ByteBuffer bytes, int at, int length) {
        guard = authentication.guard(guard);
        if (guard == null) {
            return null;
        }
        Packet packet = view == null ? new Packet(typeId, PacketSpace.HEAP) : view;
        view = packet;
        ParseFault fault = packet.parse(bytes, at, length);
        return fault == null ? guard.peek(packet) : DropReason.of(fault);
    }

    /** Takes note that the packet that was judged last, and may go on, has gone. */
    void take() {
        if (guard != null && view != null) {
            guard.take(view);
        }
    }
}
