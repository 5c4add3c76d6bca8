package org.tamanoir.anep;

import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * The headers of rules that change: a datagram has in its mark which generation of them it came up by, and gets the header
 * that its rule said then, however many came in force while it waited in its socket. The last {@value #COUNT} are kept.
 *
 * <p>Thread contract: one thread at a time puts, any thread reads.
 */
public final class PlainGenerations {
    /** As many as have a number in a mark. */
    public static final int COUNT = 256;

    /** Bits of a mark below the number. */
    public static final int MARK_SHIFT = 8;

    private final AtomicReferenceArray<@Nullable PlainHeaders> headers = new AtomicReferenceArray<>(COUNT);

    /** Puts those of a generation, before a datagram has its number. */
    public void put(int generation, PlainHeaders ofRules) {
        headers.set(generation % COUNT, ofRules);
    }

    /** Returns those by which a datagram with this mark came up; null where there never were any. */
    public @Nullable PlainHeaders of(int mark) {
        return headers.get(mark >>> MARK_SHIFT & COUNT - 1);
    }
}
