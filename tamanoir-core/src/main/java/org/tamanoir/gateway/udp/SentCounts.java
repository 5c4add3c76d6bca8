package org.tamanoir.gateway.udp;

import java.util.concurrent.atomic.LongAdder;
import org.tamanoir.transport.UdpSender;

/** Counts what all senders of a gateway have sent. Any thread. */
final class SentCounts {
    private final LongAdder datagrams = new LongAdder();
    private final LongAdder bytes = new LongAdder();

    long datagrams() {
        return datagrams.sum();
    }

    long bytes() {
        return bytes.sum();
    }

    /** Makes what counts for one sender. */
    Of newOne() {
        return new Of();
    }

    /** What was counted of one sender. The sender's thread. */
    final class Of {
        private long datagramsBefore;
        private long bytesBefore;

        /** Adds what it has sent since this was called last: some senders send when they flush, others before. */
        void add(UdpSender sender) {
            long datagramsNow = sender.sentPackets();
            if (datagramsNow != datagramsBefore) {
                long bytesNow = sender.sentBytes();
                datagrams.add(datagramsNow - datagramsBefore);
                bytes.add(bytesNow - bytesBefore);
                datagramsBefore = datagramsNow;
                bytesBefore = bytesNow;
            }
        }
    }
}
