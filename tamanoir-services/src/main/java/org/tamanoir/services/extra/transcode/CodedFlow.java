package org.tamanoir.services.extra.transcode;

import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.tamanoir.services.extra.FlowTable;
import org.tamanoir.services.extra.Header;

/** A flow with a process of its own, or without one for a while. Thread contract: the service's thread. */
final class CodedFlow implements FlowTable.Flow {
    private final Header header;

    @Nullable
    CodecProcess process;

    /** The next process is started then, at the earliest. */
    long startNs;

    /** When the last packet came, and when its sender sent it. */
    long lastNs;

    long originNs;
    long sequence;
    long bytesIn;
    long bytesOut;
    boolean isEnding;

    /** Set by any thread. */
    final AtomicBoolean isDrainDue = new AtomicBoolean();

    CodedFlow(Header header, long nowNs) {
        this.header = header;
        startNs = nowNs;
    }

    @Override
    public Header header() {
        return header;
    }
}
