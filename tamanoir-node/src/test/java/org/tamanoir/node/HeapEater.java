package org.tamanoir.node;

import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.Packet;
import org.tamanoir.service.Service;
import org.tamanoir.service.Verdict;

/** A service that takes all memory and goes on asking for more, in a process of a test. */
public final class HeapEater extends Service {
    private static final int BLOCK_BYTES = 1 << 20;
    private static final int CRUMB_BYTES = 100;

    private static volatile @Nullable Block last;

    private record Block(@Nullable Block before, byte[] bytes) {}

    @Override
    public Verdict process(Packet packet) {
        // So that not even the smallest piece is left for others; or so that all is gone at once.
        boolean inCrumbs = packet.payload().get() == 'c';
        int bytes = inCrumbs ? CRUMB_BYTES : BLOCK_BYTES;
        while (true) {
            try {
                last = new Block(last, new byte[bytes]);
            } catch (OutOfMemoryError e) {
                bytes = inCrumbs ? CRUMB_BYTES : Math.max(1, bytes / 2);
            }
        }
    }
}
