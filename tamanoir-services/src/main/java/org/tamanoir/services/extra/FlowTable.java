package org.tamanoir.services.extra;

import java.util.Collection;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.Packet;

/**
 * What is kept for flows: packets whose {@linkplain Header headers} are equal. A new flow takes the place of the one
 * that was silent for longest when there are {@code maxFlows}. Finding one that is there allocates nothing.
 *
 * <p>Thread contract: one thread.
 */
public final class FlowTable<F extends FlowTable.Flow> {
    /** What is kept for one flow. */
    public interface Flow {
        /** Returns the header that it was begun for. */
        Header header();
    }

    private final LinkedHashMap<Header, F> flows = new LinkedHashMap<>(16, 0.75f, true);
    private final Header header = new Header();
    private final int maxFlows;
    private final Function<Header, F> begin;
    private final Consumer<F> end;
    private @Nullable F last;

    /**
     * Makes an empty table.
     *
     * @param begin makes what is kept for a new flow of this header
     * @param end takes leave of what gives way to a new one
     */
    public FlowTable(int maxFlows, Function<Header, F> begin, Consumer<F> end) {
        this.maxFlows = maxFlows;
        this.begin = begin;
        this.end = end;
    }

    /** Returns what is kept for the packet's flow; {@link #header} is the packet's from then on. */
    public F of(Packet packet) {
        return of(packet, 0);
    }

    /** Does as {@link #of(Packet)} where flows are parted further, as by a source's number in the payload. */
    public F of(Packet packet, int part) {
        header.read(packet, part);
        F found = last;
        if (found != null && header.equals(found.header())) {
            return found;
        }
        found = flows.get(header);
        if (found == null) {
            while (flows.size() >= maxFlows) {
                endOldest();
            }
            found = begin.apply(header.copy());
            flows.put(found.header(), found);
        }
        last = found;
        return found;
    }

    /** Returns the header of the packet that was last asked for. */
    public Header header() {
        return header;
    }

    /** Ends the flow that was silent for longest. Returns false if there is none. */
    public boolean endOldest() {
        Iterator<F> oldest = flows.values().iterator();
        if (!oldest.hasNext()) {
            return false;
        }
        F flow = oldest.next();
        oldest.remove();
        if (flow == last) {
            last = null;
        }
        end.accept(flow);
        return true;
    }

    /** Returns what is kept for all flows, the one that was silent for longest first. */
    public Collection<F> all() {
        return flows.values();
    }
}
