package org.tamanoir.message;

import java.nio.ByteBuffer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.Packet;
import org.tamanoir.format.Format;
import org.tamanoir.format.FormatException;
import org.tamanoir.format.FormatId;
import org.tamanoir.format.FormatRegistry;
import org.tamanoir.format.FormatSource;
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
    /** After this time what a source has introduced is forgotten: instances of UDP services live as long as the node. */
    private static final long MEMORY_NS = 60_000_000_000L;

    private final int limit;
    private final FormatRegistry known;
    private final LongSupplier clock;
    private final int[] introduced = new int[PLACES];
    /** When the first of these came. */
    private final long[] sinceNs = new long[PLACES];

    private final Counter learnt;
    private final Counter refused;

    Introductions(int limit, FormatSource formats, LongSupplier clock, Counter.Source counters) {
        this.clock = clock;
        this.limit = formats.takesDescriptions() ? limit : 0;
        this.known = formats.known();
        learnt = counters.counter("formats.introduced");
        refused = counters.counter("formats.refused");
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
        long nowNs = clock.getAsLong();
        if (introduced[place] == 0 || nowNs - sinceNs[place] >= MEMORY_NS) {
            introduced[place] = 0;
            sinceNs[place] = nowNs;
        }
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
