package org.tamanoir.format;

import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * Formats by identifier, bounded in number and in bytes of descriptions: where there is no room, one goes that was not
 * asked for since the last time round. Sets of {@value #WAYS} places, as in a processor's cache, so that a search
 * allocates nothing and takes no lock.
 *
 * <p>Thread contract: any threads.
 */
public final class FormatRegistry {
    private static final int WAYS = 8;

    private final AtomicReferenceArray<@Nullable Entry> places;
    private final int setMask;
    private final long limitBytes;
    private long bytes;
    private int size;
    private long evicted;
    private int hand;

    private static final class Entry {
        final Format format;
        /** Written without an order by those who search: a lost mark costs one search more. */
        boolean used;

        Entry(Format format) {
            this.format = format;
        }
    }

    /**
     * Makes a registry.
     *
     * @param limitFormats is rounded up to a power of two, at least 8
     * @param limitBytes of descriptions
     */
    public FormatRegistry(int limitFormats, long limitBytes) {
        int sets = Integer.highestOneBit(Math.max(1, (limitFormats - 1) / WAYS)) * (limitFormats > WAYS ? 2 : 1);
        places = new AtomicReferenceArray<>(sets * WAYS);
        setMask = sets - 1;
        this.limitBytes = limitBytes;
    }

    /** Returns the format that the identifier at this place names; null if it is not here. Allocates nothing. */
    public @Nullable Format find(ByteBuffer memory, int at, int available) {
        if (available < 8) {
            return null;
        }
        int first = (FormatId.hashAt(memory, at) & setMask) * WAYS;
        for (int i = first; i < first + WAYS; i++) {
            Entry entry = places.get(i);
            if (entry != null && entry.format.isAt(memory, at, available)) {
                entry.used = true;
                return entry.format;
            }
        }
        return null;
    }

    /** Returns the format of this identifier; null if it is not here. */
    public @Nullable Format find(FormatId id) {
        int first = (id.hashCode() & setMask) * WAYS;
        for (int i = first; i < first + WAYS; i++) {
            Entry entry = places.get(i);
            if (entry != null && entry.format.id().equals(id)) {
                entry.used = true;
                return entry.format;
            }
        }
        return null;
    }

    /**
     * Keeps a format, and returns the one that is kept: the same again where its identifier is known.
     *
     * @throws FormatException if its description alone is over the limit
     */
    public synchronized Format add(Format format) {
        Format known = find(format.id());
        if (known != null) {
            return known;
        }
        if (format.descriptionBytes() > limitBytes) {
            throw new FormatException(
                    FormatFault.DESCRIPTION,
                    "description of " + format.descriptionBytes() + " bytes: at most " + limitBytes + " are kept");
        }
        int place = freePlace((format.id().hashCode() & setMask) * WAYS);
        while (bytes + format.descriptionBytes() > limitBytes) {
            evictNext(0, places.length());
        }
        places.set(place, new Entry(format));
        bytes += format.descriptionBytes();
        size++;
        return format;
    }

    private int freePlace(int first) {
        for (int i = first; i < first + WAYS; i++) {
            if (places.get(i) == null) {
                return i;
            }
        }
        return evictNext(first, WAYS);
    }

    /** Removes the next one in this range that was not used since it was passed last, and returns its place. */
    private int evictNext(int first, int range) {
        while (true) {
            int place = first + hand++ % range;
            hand &= Integer.MAX_VALUE;
            Entry entry = places.get(place);
            if (entry != null && entry.used) {
                entry.used = false;
            } else if (entry != null) {
                places.set(place, null);
                bytes -= entry.format.descriptionBytes();
                size--;
                evicted++;
                return place;
            }
        }
    }

    /** Returns how many formats are kept. */
    public synchronized int size() {
        return size;
    }

    /** Returns the bytes of the descriptions that are kept. */
    public synchronized long bytes() {
        return bytes;
    }

    /** Returns how many formats had to go. */
    public synchronized long evicted() {
        return evicted;
    }
}
