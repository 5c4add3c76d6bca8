package org.tamanoir.cluster.reflect;

import java.nio.ByteBuffer;
import org.tamanoir.qdisc.TokenBucket;
import org.tamanoir.transport.UdpSender;

/**
 * Sends the datagrams of a batch to the members of a session, from where they lie, in few system calls: all of one
 * member's follow each other, so that the sender can join them. Each batch begins with another member, so that a send
 * buffer that fills up costs none of them more than others.
 *
 * <p>Thread contract: one thread.
 */
final class Fanout {
    private final Members members;
    private final boolean isRtp;
    private int turn;
    private long asked;

    Fanout(Members members, boolean isRtp) {
        this.members = members;
        this.isRtp = isRtp;
    }

    /**
     * Sends and forgets the runs.
     *
     * @param portOffset added to members' ports: 1 for RTCP
     * @param media of the port before, for members that take RTCP there
     */
    void send(ByteBuffer buffer, Runs runs, UdpSender sender, int portOffset, UdpSender media, long nowNs) {
        int count = runs.count() == 0 ? 0 : members.count();
        turn = turn + 1 < count ? turn + 1 : 0;
        for (int i = 0; i < count; i++) {
            int index = turn + i;
            Member to = members.at(index < count ? index : index - count);
            if (to.receives) {
                boolean isBehind = portOffset > 0 && to.usesPortBehind;
                send(buffer, runs, to, isBehind ? sender : media, isBehind ? to.port + portOffset : to.port, nowNs);
            }
        }
        sender.flush();
        media.flush();
        runs.clear();
    }

    long asked() {
        return asked;
    }

    private void send(ByteBuffer buffer, Runs runs, Member to, UdpSender sender, int port, long nowNs) {
        Counts copies = to.copies;
        TokenBucket bucket = to.bucket;
        sender.from(to.ownHigh, to.ownLow, to.ownDevice);
        for (int run = 0; run < runs.count(); run++) {
            if (runs.sources[run] == to) {
                continue;
            }
            int packets = runs.packets[run];
            int bytes = runs.bytes[run];
            int offset = runs.offsets[run];
            int segment = runs.segments[run];
            copies.asked += packets;
            asked += packets;
            if (to.isOwn(runs.ssrcs[run], nowNs)) {
                copies.drop(ReflectDrop.LOOP, packets);
            } else if (isRtp && runs.ssrcs[run] == Member.NO_SSRC && !to.reports.take(bytes, nowNs)) {
                copies.drop(ReflectDrop.RATE_EXCEEDED, packets);
            } else if (runs.precedences[run] > to.quality) {
                copies.drop(ReflectDrop.QUALITY, packets);
            } else if (bucket == null || bucket.take(bytes, nowNs)) {
                copies.sentBytes += bytes;
                if (packets == 1) {
                    sender.add(buffer, offset, bytes, to.high, to.low, port);
                } else {
                    sender.addRun(buffer, offset, bytes, segment, to.high, to.low, port);
                }
            } else {
                sendWithinRate(buffer, offset, offset + bytes, segment, to, bucket, sender, port, nowNs);
            }
        }
    }

    private static void sendWithinRate(
            ByteBuffer buffer,
            int start,
            int end,
            int segment,
            Member to,
            TokenBucket bucket,
            UdpSender sender,
            int port,
            long nowNs) {
        for (int at = start; at < end; at += segment) {
            int length = Math.min(segment, end - at);
            if (bucket.take(length, nowNs)) {
                to.copies.sentBytes += length;
                sender.add(buffer, at, length, to.high, to.low, port);
            } else {
                to.copies.drop(ReflectDrop.RATE_EXCEEDED, 1);
            }
        }
    }
}
