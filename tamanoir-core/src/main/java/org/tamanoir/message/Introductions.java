package org.tamanoir.message;

import java.nio.ByteBuffer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.Packet;
import org.tamanoir.format.Format;
import org.tamanoir.format.FormatException;
import org.tamanoir.format.FormatId;
import org.tamanoir.format.FormatRegistry;
import org.tamanoir.service.Counter;

/**
 * Formats that come in packets: taken into the registry when their identifier follows from their description, so many
 * from one source.
 *
 * <p>Thread contract: the service's thread.
 */
final class Introductions {
    /** Sources that share a place share its bound, so that sources without number need no more memory. */
    private static final int PLACES = 1_024;

    private final int limit;
    private final FormatRegistry known;
    private final int[] introduced = new int[PLACES];
    private final Counter learnt;
    private final Counter refused;

    Introductions(int limit, FormatRegistry known, Function<String, Counter> counters) {
        this.limit = limit;
        this.known = known;
        learnt = counters.apply("formats.introduced");
        refused = counters.apply("formats.refused");
    }

    /** Returns whether the format that this item introduces is known by now. */
    boolean isKnown(ByteBuffer memory, int item) {
        int idBytes = Items.idBytes(memory, item);
        return idBytes <= FormatId.MAX_BYTES && known.find(memory, item + Items.HEAD, idBytes) != null;
    }

    /** Returns the format's identifier if it was unknown and is not any more. */
    @Nullable
    FormatId learn(Packet packet, ByteBuffer memory, int item, int length) {
        if (isKnown(memory, item)) {
            return null;
        }
        long source = packet.hasInternetSource() ? packet.sourceHigh() * 31 + packet.sourceLow() : 0;
        int place = Math.floorMod(Long.hashCode(source * 0x9E3779B97F4A7C15L), PLACES);
        int idBytes = Items.idBytes(memory, item);
        try {
            FormatId id = FormatId.read(memory, item + Items.HEAD, idBytes);
            if (id.isComputed() && id.length() == idBytes && introduced[place] < limit) {
                byte[] description = new byte[length - Items.HEAD - idBytes];
                memory.get(item + Items.HEAD + idBytes, description);
                known.add(Format.of(id, description));
                introduced[place]++;
                learnt.add(1);
                return id;
            }
        } catch (FormatException e) {
            // Counted below: a stranger can cause it with every packet.
        }
        refused.add(1);
        return null;
    }
}
