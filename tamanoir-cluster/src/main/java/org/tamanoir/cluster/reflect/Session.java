package org.tamanoir.cluster.reflect;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.NodeOptions;
import org.tamanoir.anep.Option;
import org.tamanoir.anep.Packet;
import org.tamanoir.qdisc.TokenBucket;
import org.tamanoir.routing.Addresses;
import org.tamanoir.routing.Prefix;
import org.tamanoir.rtp.RtpPacket;
import org.tamanoir.rtp.RtpReport;
import org.tamanoir.transport.UdpBatch;
import org.tamanoir.transport.UdpRefusals;
import org.tamanoir.transport.UdpSender;

/**
 * One session: decides for each datagram of a batch whether it goes on, and has those that do sent to the members, from
 * where they lie. Time and sockets are given. Of what came in
 *
 * <pre>in = reflected + control + refused</pre>
 *
 * and of the copies that were asked for {@code asked = sent + dropped}, see {@link Counts}.
 *
 * <p>Thread contract: one thread.
 */
final class Session {
    /** Wishes to join a second that are looked at: each costs some microseconds. */
    static final int JOINS_PER_SECOND = 1_000;

    /** Of ANEP packets that leave the number to the first node, the node's own default; and the most that leaves. */
    private static final int HOP_BUDGET = 16;

    /**
     * Of a datagram that come into the key that tells it from others: with the header alone whoever guesses what another
     * will send could have it taken for a loop.
     */
    private static final int KEY_BYTES = 64;

    final SessionConfig config;
    final Members members;
    final RtpSources sources;
    /** Of members that have gone. */
    final Counts departed = new Counts();

    long datagramsIn;
    long bytesIn;
    long reflected;
    /** Of those, ANEP packets that went on without what stood behind their end. */
    long trailers;
    /** Wishes to join and what else is for the reflector itself. */
    long control;

    /** What came in and went no further, by reason. */
    final Counts refused = new Counts();
    /** What came of cookies that were answered, which are no copies: {@code asked = sent + dropped}. */
    final Counts answers = new Counts();

    private final Fanout fanout;
    private final Runs runs = new Runs();
    private final Seen seen = new Seen();
    private final Cookies cookies;
    private final TokenBucket joins;
    private final Packet packet = new Packet();
    private final RtpPacket reader = new RtpPacket();
    /** Of the RTCP that is being read, what is said of the source with the highest loss. */
    private @Nullable RtpReport worst;

    private final long secret;
    private boolean isAnswering;
    private int inputPort;
    private OwnAddresses own = OwnAddresses.LOOPBACK;
    private @Nullable UdpSender media;

    // Of the message that is being looked at.
    private long high;
    private long low;
    private int port;
    /** The address of this host that it was sent to; 0 and 0 where the socket has one alone. */
    private long ownHigh;

    private long ownLow;
    private int ownDevice;
    private @Nullable Member source;

    /** @param key 32 random bytes that make the cookies, and the hashes that nobody else can guess */
    Session(SessionConfig config, byte[] key, long nowNs) {
        this.config = config;
        secret = ByteBuffer.wrap(key).getLong();
        inputPort = config.input().getPort();
        members = new Members(config.maxMembers(), secret);
        fanout = new Fanout(members, config.format() == Format.RTP);
        sources = new RtpSources(config.clockRate());
        cookies = new Cookies(key);
        joins = new TokenBucket(JOINS_PER_SECOND, JOINS_PER_SECOND, nowNs);
        config.members().forEach(member -> members.add(new Member(member, Origin.LISTED, nowNs)));
    }

    /** Takes the real port of the input, and what is at this host. */
    void bound(int inputPort, OwnAddresses own) {
        this.inputPort = inputPort;
        this.own = own;
    }

    /** Takes the sender of the input, through which RTCP goes to members that take it at the port of RTP. */
    void media(UdpSender sender) {
        media = sender;
    }

    // ---- members ---------------------------------------------------------------------------------------------------

    /**
     * Adds a member for an operator; one that joined by a cookie is replaced.
     *
     * @throws IllegalArgumentException in one line
     */
    void join(MemberConfig wanted, long nowNs) {
        config.check(wanted);
        Member member = new Member(wanted, Origin.API, nowNs);
        Member known = members.find(member.high, member.low, member.port);
        if (known != null && known.origin != Origin.COOKIE) {
            throw new IllegalArgumentException("member " + Addresses.text(wanted.address())
                    + " is there already: remove it to give it other terms");
        }
        if (known != null) {
            remove(known);
        } else if (members.isFull()) {
            throw new IllegalArgumentException("session " + config.name() + " has " + members.count()
                    + " members, all that max-members allows: remove one, or raise it");
        }
        members.add(member);
    }

    /** Removes a member; false when it is not there. */
    boolean leave(InetSocketAddress address) {
        Member member = members.find(
                Addresses.high(address.getAddress()), Addresses.low(address.getAddress()), address.getPort());
        if (member != null) {
            remove(member);
        }
        return member != null;
    }

    private void remove(Member member) {
        departed.add(member.copies);
        members.remove(member);
    }

    /** Lets members go that joined by a cookie, and are silent or have shown no fresh cookie. */
    void expire(long nowNs) {
        long timeoutNs = config.joinTimeout().toNanos();
        for (int i = members.count() - 1; i >= 0; i--) {
            Member member = members.at(i);
            if (member.origin == Origin.COOKIE
                    && (nowNs - member.seenNs >= timeoutNs || nowNs - member.provenNs >= Cookies.PROOF_NS)) {
                remove(member);
            }
        }
    }

    // ---- datagrams -------------------------------------------------------------------------------------------------

    /** Takes the refusals of a sender for the copies of its members. */
    UdpRefusals refusals(int portOffset) {
        return (high, low, port, packets, bytes, isFull) -> {
            Member member = members.find(high, low, port - portOffset);
            Counts copies = isAnswering ? answers : member == null ? departed : member.copies;
            copies.drop(isFull ? ReflectDrop.QUEUE_FULL : ReflectDrop.SEND_ERROR, packets);
            copies.sentBytes -= bytes;
        };
    }

    /**
     * Reflects a batch; nothing of it is held when this returns.
     *
     * @param sender through which copies leave
     * @param portOffset by which ports are above those of the members: 1 where RTCP comes in, else 0
     */
    void receive(UdpBatch batch, int messages, UdpSender sender, int portOffset, long nowNs) {
        ByteBuffer buffer = batch.buffer(0); // Messages of its sockets lie in one.
        source = null;
        port = 0;
        runs.clear(); // What a batch that failed left behind lies in memory that has other datagrams now.
        for (int m = 0; m < messages; m++) {
            lookAt(batch.addressHigh(m), batch.addressLow(m), batch.port(m), portOffset);
            ownHigh = batch.ownHigh(m);
            ownLow = batch.ownLow(m);
            ownDevice = batch.ownDevice(m);
            int start = batch.start(m);
            message(buffer, start, batch.end(m), batch.segmentBytes(m), sender, portOffset, nowNs);
        }
        send(buffer, sender, portOffset, nowNs);
    }

    private void send(ByteBuffer buffer, UdpSender sender, int portOffset, long nowNs) {
        UdpSender input = media;
        fanout.send(buffer, runs, sender, portOffset, portOffset == 0 || input == null ? sender : input, nowNs);
    }

    /** Returns how many copies were asked for, of members that have gone too. */
    long asked() {
        return fanout.asked();
    }

    /** Finds the member that a message comes from: RTCP from its own port, or from the one behind if that is no other's. */
    private void lookAt(long high, long low, int port, int portOffset) {
        if (this.port != port || this.low != low || this.high != high) {
            this.high = high;
            this.low = low;
            this.port = port;
            source = members.find(high, low, port);
            if (source == null && portOffset > 0) {
                source = members.find(high, low, port - portOffset);
            }
        }
    }

    private void message(
            ByteBuffer buffer, int start, int end, int segment, UdpSender sender, int portOffset, long nowNs) {
        int bytes = end - start;
        if (bytes == 0) {
            datagramsIn++;
            refused.drop(ReflectDrop.MALFORMED, 1);
            return;
        }
        int packets = (bytes + segment - 1) / segment;
        datagramsIn += packets;
        bytesIn += bytes;
        if (isFromItself()) {
            refused.drop(ReflectDrop.LOOP, packets);
            return;
        }
        Member from = source;
        if (from != null) {
            from.usesPortBehind |= from.port != port;
            from.speaksTo(ownHigh, ownLow, ownDevice);
            from.seenNs = nowNs;
            from.packetsIn += packets;
            from.bytesIn += bytes;
        }
        // The last of those that the kernel joined may be shorter than the others.
        boolean mayBeControl =
                portOffset == 0 && (Cookies.fits(segment) || Cookies.fits(bytes - (packets - 1) * segment));
        if (!mayBeControl && !maySend() && !mayReport()) {
            refused.drop(ReflectDrop.NOT_ALLOWED, packets);
        } else if (!mayBeControl && config.format() == Format.UDP) {
            goOn(buffer, start, bytes, segment, packets, Member.NO_SSRC, 0, sender, portOffset, nowNs);
        } else {
            for (int at = start; at < end; at += segment) {
                datagram(buffer, at, Math.min(segment, end - at), sender, portOffset, nowNs);
            }
        }
    }

    /** Returns whether it comes from a port of this session, as from a group that it both receives and sends to. */
    private boolean isFromItself() {
        int behind = port - inputPort;
        return (behind == 0 || behind == 1 && config.format() == Format.RTP)
                && inputPort != 0
                && own.contains(high, low);
    }

    private boolean maySend() {
        return source != null ? source.sends : contains(config.sendFrom());
    }

    /** Returns whether it may send RTCP: a member that only receives tells of its loss too. */
    private boolean mayReport() {
        return source != null && config.format() == Format.RTP;
    }

    private boolean contains(List<Prefix> prefixes) {
        for (int i = 0; i < prefixes.size(); i++) {
            if (prefixes.get(i).contains(high, low)) {
                return true;
            }
        }
        return false;
    }

    private void datagram(ByteBuffer buffer, int at, int bytes, UdpSender sender, int portOffset, long nowNs) {
        if (portOffset == 0 && Cookies.isMessage(buffer, at, bytes)) {
            joinOrQuit(buffer, at, sender, nowNs);
        } else if (config.format() == Format.RTP) {
            mediaOrControl(buffer, at, bytes, sender, portOffset, nowNs);
        } else if (!maySend()) {
            refused.drop(ReflectDrop.NOT_ALLOWED, 1);
        } else if (config.format() == Format.ANEP) {
            anep(buffer, at, bytes, sender, nowNs);
        } else {
            goOn(buffer, at, bytes, bytes, 1, Member.NO_SSRC, 0, sender, 0, nowNs);
        }
    }

    private void mediaOrControl(ByteBuffer buffer, int at, int bytes, UdpSender sender, int portOffset, long nowNs) {
        boolean isRead = reader.read(buffer, at, bytes) == null;
        boolean isControl = isRead && reader.isControl();
        if (!maySend() && !(isControl && mayReport())) {
            refused.drop(ReflectDrop.NOT_ALLOWED, 1);
        } else if (isControl) {
            rtcp(buffer, at, bytes, sender, portOffset, nowNs);
        } else if (isRead && portOffset == 0) {
            rtp(buffer, at, bytes, sender, nowNs);
        } else {
            refused.drop(ReflectDrop.MALFORMED, 1);
        }
    }

    private void rtp(ByteBuffer buffer, int at, int bytes, UdpSender sender, long nowNs) {
        int ssrc = reader.ssrc();
        if (seen.isAgain(key(buffer, at, bytes, RtpPacket.FIXED_OCTETS + KEY_BYTES), nowNs, Seen.HORIZON_NS)) {
            refused.drop(ReflectDrop.LOOP, 1);
            return;
        }
        RtpSource stream = sources.of(ssrc);
        stream.packet(reader.sequence(), reader.timestamp(), nowNs);
        stream.high = high;
        stream.low = low;
        stream.port = port;
        if (source != null) {
            source.ssrc = ssrc & 0xFFFF_FFFFL;
            source.ssrcNs = nowNs;
        }
        goOn(buffer, at, bytes, bytes, 1, ssrc & 0xFFFF_FFFFL, 0, sender, 0, nowNs);
    }

    private void rtcp(ByteBuffer buffer, int at, int bytes, UdpSender sender, int portOffset, long nowNs) {
        if (seen.isAgain(key(buffer, at, bytes, bytes), nowNs, Seen.RTCP_HORIZON_NS)) {
            refused.drop(ReflectDrop.LOOP, 1);
            return;
        }
        worst = null;
        if (reader.readControl(this::note) != null) {
            refused.drop(ReflectDrop.MALFORMED, 1);
            return;
        }
        if (source != null && worst != null) {
            source.report = worst;
        }
        goOn(buffer, at, bytes, bytes, 1, Member.NO_SSRC, 0, sender, portOffset, nowNs);
    }

    private void note(int ssrc, RtpReport report) {
        RtpReport before = worst;
        if (!sources.has(ssrc)) {
            return; // Of SRTCP it is noise.
        }
        if (before == null || report.fractionLost() > before.fractionLost()) {
            worst = report;
        }
    }

    private void anep(ByteBuffer buffer, int at, int bytes, UdpSender sender, long nowNs) {
        if (packet.parse(buffer, at, bytes) != null) {
            refused.drop(ReflectDrop.MALFORMED, 1);
            return;
        }
        boolean isCounted = packet.has(Option.HOP_BUDGET);
        int hops = packet.hopBudget();
        if (isCounted ? hops == 1 : !packet.has(Option.STREAM)) {
            refused.drop(ReflectDrop.HOP_BUDGET, 1);
            return;
        }
        if (packet.has(Option.STREAM) && seen.isAgain(key(packet), nowNs, Seen.HORIZON_NS)) {
            refused.drop(ReflectDrop.LOOP, 1);
            return;
        }
        if (isCounted) {
            NodeOptions.setHopBudget(packet, hops == 0 ? HOP_BUDGET : Math.min(hops, HOP_BUDGET) - 1);
        }
        if (packet.hasTrailer()) {
            trailers++;
        }
        int length = packet.length();
        goOn(buffer, at, length, length, 1, Member.NO_SSRC, packet.dropPrecedence(), sender, 0, nowNs);
    }

    /** Returns what tells a datagram from others, by its first bytes and its length. */
    private long key(ByteBuffer buffer, int at, int bytes, int most) {
        return Seen.hash(Seen.mix(secret, bytes), buffer, at, Math.min(bytes, most));
    }

    /** Returns what tells a packet from others: the header is not in it, since nodes change it. */
    private long key(Packet packet) {
        long stream = Seen.mix(Seen.mix(secret, packet.streamId()), packet.sequence());
        return Seen.mix(stream, key(packet.buffer(), packet.payloadOffset(), packet.payloadLength(), KEY_BYTES));
    }

    private void goOn(
            ByteBuffer buffer,
            int at,
            int bytes,
            int segment,
            int packets,
            long ssrc,
            int precedence,
            UdpSender sender,
            int portOffset,
            long nowNs) {
        if (runs.isFull()) {
            send(buffer, sender, portOffset, nowNs);
        }
        runs.add(at, bytes, segment, source, ssrc, precedence);
        reflected += packets;
    }

    private void joinOrQuit(ByteBuffer buffer, int at, UdpSender sender, long nowNs) {
        Member member = source;
        if (Cookies.isAnswer(buffer, at) || member != null && member.origin != Origin.COOKIE) {
            control++; // Who is listed has nothing to prove.
        } else if (!contains(config.joinFrom()) || port < 1 || config.format() == Format.RTP && port == 65_535) {
            refused.drop(ReflectDrop.NOT_ALLOWED, 1);
        } else if (!(member == null ? joins : member.wishes).take(1, nowNs)) {
            refused.drop(ReflectDrop.RATE_EXCEEDED, 1);
        } else if (!cookies.holds(buffer, at, high, low, port, nowNs)) {
            control++;
            cookies.answer(buffer, at, high, low, port, nowNs);
            answer(buffer, at, sender);
        } else if (Cookies.isQuit(buffer, at)) {
            control++;
            if (member != null) {
                quit(buffer, member, sender, nowNs);
            }
        } else if (member != null) {
            control++;
            member.provenNs = nowNs;
        } else if (members.isFull() || members.joinedAt(high, low) >= config.maxPerAddress()) {
            refused.drop(ReflectDrop.MEMBERS_FULL, 1);
        } else {
            control++;
            InetSocketAddress address = new InetSocketAddress(Addresses.of(high, low), port);
            source = new Member(new MemberConfig(address, config.joined()), Origin.COOKIE, nowNs);
            source.speaksTo(ownHigh, ownLow, ownDevice);
            members.add(source);
        }
    }

    /** Sends an answer at once: it alone, so that what is refused is known to be no copy. */
    private void answer(ByteBuffer buffer, int at, UdpSender sender) {
        answers.asked++;
        answers.sentBytes += Cookies.MESSAGE_BYTES;
        isAnswering = true;
        sender.from(ownHigh, ownLow, ownDevice);
        sender.add(buffer, at, Cookies.MESSAGE_BYTES, high, low, port);
        sender.flush();
        isAnswering = false;
    }

    /** Lets a member go, when what it sent before in this batch has gone on. */
    private void quit(ByteBuffer buffer, Member member, UdpSender sender, long nowNs) {
        send(buffer, sender, 0, nowNs);
        remove(member);
        source = null;
    }
}
