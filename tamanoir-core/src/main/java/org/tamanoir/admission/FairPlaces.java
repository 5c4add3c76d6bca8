package org.tamanoir.admission;

import java.net.InetAddress;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.tamanoir.routing.PeerNetwork;

/**
 * Places for what strangers begin by a datagram, whose source may be forged. Who has shown something for it keeps his
 * place, up to a share of them for each network; the others give way to newcomers, the one that has been quiet longest
 * first. Each call takes the same time, however many places there are.
 *
 * <p>Thread contract: one thread at a time.
 *
 * @param <E> what has a place; each equals itself alone
 */
public final class FairPlaces<E> {
    /** Of all places one network keeps at most one in so many. */
    private static final int NETWORKS = 16;

    private final int places;
    /** Those that have been quiet longest first, as all of these. */
    private final Map<E, E> giving = new LinkedHashMap<>(64, 0.75f, true);

    private final Map<E, InetAddress> keeping = new LinkedHashMap<>(64, 0.75f, true);
    private final Map<InetAddress, Integer> byNetwork = new HashMap<>();

    /** Makes so many places. */
    public FairPlaces(int places) {
        this.places = places;
    }

    /** Returns how many of so many places one network keeps at most. */
    public static int share(int places) {
        return places / NETWORKS;
    }

    /** Returns whether all are taken. */
    public boolean isFull() {
        return giving.size() + keeping.size() >= places;
    }

    /** Returns the one that gives way next; null = all keep their places. */
    public @Nullable E givesWay() {
        return first(giving);
    }

    /** Returns the one of those that keep their places that has been quiet longest; null = none does. */
    public @Nullable E quietest() {
        return first(keeping);
    }

    private static <E> @Nullable E first(Map<E, ?> map) {
        Iterator<E> each = map.keySet().iterator();
        return each.hasNext() ? each.next() : null;
    }

    /** Takes a place for one that gives way. */
    public void add(E entry) {
        giving.put(entry, entry);
    }

    /** Has one keep its place from now on; false where its network keeps its share already, or it has none. */
    public boolean keep(E entry, InetAddress peer) {
        if (!giving.containsKey(entry)) {
            return false;
        }
        InetAddress network = PeerNetwork.of(peer);
        if (byNetwork.getOrDefault(network, 0) >= share(places)) {
            return false;
        }
        giving.remove(entry);
        keeping.put(entry, network);
        byNetwork.merge(network, 1, Integer::sum);
        return true;
    }

    /** Has one give way from now on. */
    public void release(E entry) {
        if (forget(entry)) {
            giving.put(entry, entry);
        }
    }

    /** Takes note that one is not quiet. */
    public void used(E entry) {
        if (giving.get(entry) == null) { // To ask is to move.
            keeping.get(entry);
        }
    }

    /** Gives a place back. */
    public void remove(E entry) {
        giving.remove(entry);
        forget(entry);
    }

    private boolean forget(E entry) {
        InetAddress network = keeping.remove(entry);
        if (network != null) {
            byNetwork.computeIfPresent(network, (key, count) -> count == 1 ? null : count - 1);
        }
        return network != null;
    }
}
