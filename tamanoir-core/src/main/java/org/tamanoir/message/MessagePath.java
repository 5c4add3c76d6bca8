package org.tamanoir.message;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.Option;
import org.tamanoir.anep.Packet;
import org.tamanoir.format.Format;
import org.tamanoir.format.FormatException;
import org.tamanoir.format.FormatId;
import org.tamanoir.format.FormatSource;
import org.tamanoir.format.RecordView;
import org.tamanoir.message.MessageSettings.Policy;
import org.tamanoir.service.Allowance;
import org.tamanoir.service.Counter;
import org.tamanoir.service.StreamInfo;
import org.tamanoir.service.StreamInfo.Transport;
import org.tamanoir.service.Verdict;

/**
 * The way of messages through a service: packets become messages, the handler sees them, messages become packets.
 *
 * <p>Thread contract: the service's thread.
 */
final class MessagePath implements Reassembly.Sink, FormatWaits.Path, Runs.Arrivals, Segmenter.Way {
    /** What the service lends. */
    interface Node extends Counter.Source {
        boolean send(Packet packet, @Nullable InetSocketAddress destination);

        long nanoTime();

        void after(Duration delay, Runnable task);

        boolean execute(Runnable task);

        FormatSource formats();

        StreamInfo stream();

        Allowance allowance();
    }

    private static final long NEVER = Long.MAX_VALUE;
    private static final Duration LEAST_WAIT = Duration.ofMillis(1);
    private static final int ID_BYTES = FormatId.MAX_BYTES;

    private final MessageHandler handler;
    private final MessageSettings settings;
    private final Node node;
    private final boolean isUdp;
    private final FormatSource formats;
    private final Bindings bindings;
    private final HandlerCalls calls;
    private final Segmenter segmenter;
    private final Reassembly reassembly;
    private final FormatHold hold;
    private final FormatWaits waits;
    private final Counter others;
    private final Counter strays;
    private final MessageCounts counts;
    private final Exit exit;
    private final Runs runs;
    private final Message message = new Message();

    /** What may leave on account of the packet in hand. */
    private Allowance allowance = Allowance.FREE;
    /** Whether the packet goes on is to be asked for: something was paid for on account of it, or it has waited and is sent. */
    private boolean isAsked;
    /** Messages of the packet in hand that are counted already, since it was held. */
    private int credit;
    /** The format that the packet in hand has to wait for. */
    private @Nullable FormatId missing;

    private @Nullable String dropReason;
    private @Nullable InetSocketAddress elsewhere;
    private final TaskClock clock;
    private final boolean handlerKnowsTime;
    private boolean ending;
    private long handlerDueNs = NEVER;
    private long timerNs = NEVER;

    MessagePath(MessageHandler handler, MessageSettings settings, Node node) {
        this.handler = handler;
        handlerKnowsTime = knowsTime(handler);
        this.settings = settings;
        this.node = node;
        clock = new TaskClock(node::nanoTime);
        isUdp = node.stream().transport() == Transport.UDP;
        formats = node.formats();
        counts = new MessageCounts(node);
        others = node.counter("packets.other");
        strays = node.counter("packets.stray");
        Introductions introductions = new Introductions(settings.introduced(), formats, node::nanoTime, node);
        bindings = new Bindings(handler, formats.known());
        segmenter = new Segmenter(settings.packetBytes(node.stream().transport()), this);
        reassembly = new Reassembly(settings, this);
        hold = new FormatHold(settings, !isUdp);
        waits = new FormatWaits(hold, formats, node, clock, this);
        exit = new Exit(counts, segmenter, clock, formats.known());
        calls = new HandlerCalls(bindings, settings, node, counts, exit);
        runs = new Runs(settings, formats, introductions, calls, counts, exit, new RunWriter(segmenter), clock, this);
    }

    MessageCounts counts() {
        return counts;
    }

    Bindings bindings() {
        return bindings;
    }

    long heldBytes() {
        return reassembly.heldBytes() + hold.heldBytes();
    }

    /** Returns the way out for tasks between packets. */
    Outlet outlet() {
        clock.begin();
        exit.charge(Allowance.FREE);
        return exit;
    }

    /** Returns what {@link Verdict#DROP} is for. */
    String dropReason() {
        return Objects.requireNonNull(dropReason);
    }

    /** Returns where {@link Verdict#FORWARD_ELSEWHERE} leads to. */
    InetSocketAddress elsewhere() {
        return Objects.requireNonNull(elsewhere);
    }

    // ---- packets ------------------------------------------------------------------------------------------------

    Verdict process(Packet packet) {
        clock.begin();
        if (waits.hasAnswers()) {
            answersCame();
        }
        if (handlerDueNs != NEVER && now() - handlerDueNs >= 0) {
            expireHandler();
        }
        allowance = node.allowance();
        isAsked = false;
        Verdict verdict = handleOrHold(packet);
        if (handlerKnowsTime) {
            expireHandler();
        }
        if (handlerDueNs != NEVER || !reassembly.isEmpty() || !hold.isEmpty()) {
            schedule();
        }
        return verdict;
    }

    /** Has the handler do what is due, which no packet has caused: not the one in hand, either. */
    private void expireHandler() {
        handlerDueNs = NEVER;
        exit.charge(Allowance.FREE);
        handlerDueNs = handler.expire(now(), exit);
    }

    private long now() {
        return clock.getAsLong();
    }

    private static boolean knowsTime(MessageHandler handler) {
        try {
            return handler.getClass()
                            .getMethod("expire", long.class, Outlet.class)
                            .getDeclaringClass()
                    != MessageHandler.class;
        } catch (NoSuchMethodException e) {
            throw new IllegalStateException(e);
        }
    }

    private Verdict handleOrHold(Packet packet) {
        if (!isUdp && !hold.hasRoom(packet.length())) {
            waits.awaitRoom(packet.length()); // Its sender waits with this thread.
        }
        FormatHold.Flow flow = hold.flow(packet);
        if (flow == null) {
            Verdict verdict = handle(packet);
            if (verdict != null) {
                return verdict;
            }
            flow = hold.block(packet, missing(), now());
            waits.ask(missing(), packet);
        }
        int messages = messages(packet);
        counts.in(messages);
        if (hold.add(flow, packet, messages, allowance)) {
            counts.held(messages);
            return Verdict.CONSUME;
        }
        counts.dropped(MessageReason.HOLD_FULL.name(), messages);
        return endStream(packet, MessageReason.HOLD_FULL);
    }

    private FormatId missing() {
        return Objects.requireNonNull(missing);
    }

    private static int messages(Packet packet) {
        if (!packet.isTamanoir()) {
            return 0;
        }
        return packet.has(Option.FORMAT) ? 1 : Math.max(0, records(packet));
    }

    /** Returns the records of a packet that is a run of items, -1 if it is none. */
    private static int records(Packet packet) {
        ByteBuffer look = packet.look();
        return Items.records(look, look.position() + packet.headerLength(), look.limit());
    }

    /** Returns what becomes of a packet; null if it has to wait for the {@link #missing} format. */
    private @Nullable Verdict handle(Packet packet) {
        exit.outgrown = false;
        if (!packet.isTamanoir()) {
            return other(packet, allowance);
        }
        if (packet.has(Option.FORMAT)) {
            return beginning(packet);
        }
        return packet.has(Option.STREAM) ? continuation(packet) : run(packet);
    }

    private Verdict other(Packet packet, Allowance paying) {
        if (settings.other() == Policy.DROP) {
            return dropping(MessageReason.OTHER.name());
        }
        Verdict verdict = passing(packet, paying);
        if (verdict == Verdict.FORWARD) {
            others.add(1);
        }
        return verdict;
    }

    /** Returns what becomes of a packet without messages that goes on as it is, if it may. */
    private Verdict passing(Packet packet, Allowance paying) {
        if (mayGoOn(packet, null, packet.length(), paying)) {
            return Verdict.FORWARD;
        }
        node.counter("packets.growth").add(1);
        return dropping(MessageReason.GROWTH.name());
    }

    /** Returns what becomes of a packet that may be a part of a message whose beginning never came. */
    private Verdict strayed(Packet packet, Allowance paying) {
        if (settings.strays() == Policy.PASS) {
            return other(packet, paying);
        }
        strays.add(1);
        return dropping("STRAY");
    }

    private Verdict dropping(String reason) {
        dropReason = reason;
        return Verdict.DROP;
    }

    /** Counts a message that came, unless it was counted when it was held. */
    @Override
    public void arrive() {
        if (credit > 0) {
            credit--;
            counts.held(-1);
        } else {
            counts.in(1);
        }
    }

    private Verdict refuse(Packet packet, MessageReason reason) {
        counts.dropped(reason.name(), 1);
        return endStream(packet, reason);
    }

    private Verdict endStream(Packet packet, MessageReason reason) {
        if (packet.has(Option.FORMAT) && packet.has(Option.STREAM)) {
            reassembly.refuse(packet, reason, now());
        }
        return dropping(reason.name());
    }

    // ---- packets that begin a message ---------------------------------------------------------------------------

    private @Nullable Verdict beginning(Packet packet) {
        ByteBuffer look = packet.look();
        int at = look.position() + packet.headerLength();
        int bytes = packet.payloadLength();
        int option = look.position() + packet.optionOffset(Option.FORMAT) - packet.offset();
        boolean blank = look.getLong(option) == 0 && look.getInt(option + 8) == 0;
        int idAt = blank ? at : option;
        int idRoom = blank ? bytes : ID_BYTES;
        Format format = formats.known().find(look, idAt, idRoom);
        int idBytes;
        try {
            FormatId id = format != null ? format.id() : FormatId.read(look, idAt, idRoom);
            idBytes = id.length();
            if (format == null && areAlike(look, idAt, at, Math.min(idBytes, bytes))) {
                if (mayWait(id)) {
                    missing = id;
                    return null;
                }
                arrive();
                return unknown(packet);
            }
        } catch (FormatException e) {
            idBytes = 0;
        }
        arrive();
        boolean named =
                format != null && (bytes >= idBytes ? format.isAt(look, at, bytes) : areAlike(look, idAt, at, bytes));
        if (format == null || !named) {
            return refuse(packet, MessageReason.FORMAT_ID);
        }
        long total;
        try {
            total = format.encodedLength(look, at, bytes);
        } catch (FormatException e) {
            total = 0;
        }
        if (total == bytes && total <= settings.messageBytes()) {
            return whole(packet, format, look, at, blank);
        }
        return begin(packet, look, format, total);
    }

    private static boolean areAlike(ByteBuffer memory, int one, int other, int bytes) {
        for (int i = 0; i < bytes; i++) {
            if (memory.get(one + i) != memory.get(other + i)) {
                return false;
            }
        }
        return true;
    }

    private Verdict begin(Packet packet, ByteBuffer look, Format format, long total) {
        MessageReason reason = null;
        if (total >= 0 && total < packet.payloadLength()) {
            reason = MessageReason.RECORD;
        } else if (total > settings.messageBytes()) {
            reason = MessageReason.TOO_LONG;
        } else if (!packet.has(Option.STREAM)) {
            reason = MessageReason.NO_STREAM;
        } else if (packet.headerLength() > Segmenter.MAX_HEADER) {
            reason = MessageReason.NO_ROOM;
        } else if (reassembly.isKnown(packet, now())) {
            counts.dropped(MessageReason.DUPLICATE.name(), 1);
            return dropping(MessageReason.DUPLICATE.name());
        }
        if (reason == null) {
            counts.held(1);
            reason = reassembly.begin(packet, look, allowance, format, now());
            if (reason == null) {
                return Verdict.CONSUME;
            }
            counts.held(-1);
        }
        return refuse(packet, reason);
    }

    @Override
    public boolean mayWait(FormatId id) {
        return !ending && !hold.isRefused(id, now()) && hold.mayAsk(id);
    }

    /** Decides about a message whose format nobody has. */
    private Verdict unknown(Packet packet) {
        if (settings.failure() == Policy.DROP) {
            return refuse(packet, MessageReason.FORMAT);
        }
        if (packet.has(Option.STREAM)) {
            reassembly.refuse(packet, null, now());
        }
        if (!mayGoOn(packet, null, packet.length(), allowance)) {
            return outgrown();
        }
        counts.out(1);
        return Verdict.FORWARD;
    }

    private Verdict whole(Packet packet, Format format, ByteBuffer look, int at, boolean blank) {
        try {
            message.wrap(format, look, at, packet.payloadLength(), packet, allowance, clock);
        } catch (FormatException e) {
            return refuse(packet, MessageReason.RECORD);
        }
        if (blank) {
            packet.setFormat(look, at, format.id().length());
        }
        Message going = calls.decide(message);
        if (going == null) {
            return ended();
        }
        exit.sendCopies(going);
        if (exit.outgrown) {
            return outgrown();
        }
        int bytes = packet.length();
        if (going != message) {
            bytes = packet.headerLength() + going.record().length();
            if (bytes > segmenter.packetBytes()) {
                exit.send(going);
                return Verdict.CONSUME;
            }
        }
        if (!mayGoOn(packet, going.destination(), bytes, exit.paying(going))) {
            return outgrown();
        }
        if (going != message) {
            replace(packet, going.record());
        }
        counts.out(1);
        elsewhere = going.destination();
        return elsewhere == null ? Verdict.FORWARD : Verdict.FORWARD_ELSEWHERE;
    }

    @Override
    public boolean mayGoOn(Packet packet, @Nullable InetSocketAddress destination, int bytes, Allowance paying) {
        return !isAsked && bytes <= packet.length() || prepay(paying, packet, destination, 1, bytes);
    }

    private Verdict outgrown() {
        counts.dropped(MessageReason.GROWTH.name(), 1);
        return dropping(MessageReason.GROWTH.name());
    }

    private void replace(Packet packet, RecordView record) {
        int bytes = record.length();
        boolean done = false;
        try {
            ByteBuffer room = packet.newPayload(bytes);
            room.put(room.position(), record.memory(), record.start(), bytes);
            // From the copy: the record may lie in the payload that it replaces.
            packet.setFormat(room, room.position(), record.format().id().length());
            packet.commitPayload(bytes);
            done = true;
        } finally {
            if (!done) {
                counts.dropped(MessageReason.FAILED.name(), 1);
            }
        }
    }

    /** Returns what becomes of the packet whose message the handler has ended. */
    private Verdict ended() {
        dropReason = calls.dropReason();
        return dropReason == null ? Verdict.CONSUME : Verdict.DROP;
    }

    @Override
    public boolean prepay(
            Allowance onAccountOf, Packet like, @Nullable InetSocketAddress destination, int packets, long bytes) {
        isAsked = true; // What it pays for is no longer there for the packet in hand.
        return node.allowance().prepay(onAccountOf, like, destination, packets, bytes);
    }

    @Override
    public boolean send(Packet packet, @Nullable InetSocketAddress destination) {
        try {
            return node.send(packet, destination);
        } catch (RuntimeException e) {
            calls.nodeThrew(e);
            throw e;
        }
    }

    // ---- packets that continue a message ------------------------------------------------------------------------

    /** A run may have a stream's numbers too: it is one unless a message is there that it is the next packet of. */
    private @Nullable Verdict continuation(Packet packet) {
        boolean isRun = records(packet) >= 0;
        return switch (reassembly.next(packet, packet.look(), allowance, now(), isUdp && !ending, isRun)) {
            case TAKEN -> Verdict.CONSUME;
            case STRAY -> isRun ? run(packet) : strayed(packet, allowance);
            case PASSES -> passing(packet, allowance);
            case DUPLICATE -> dropping(MessageReason.DUPLICATE.name());
            case DROPPED -> dropping(MessageReason.INCOMPLETE.name());
        };
    }

    @Override
    public void whole(Assembly assembly) {
        counts.held(-1);
        try {
            ByteBuffer memory = Objects.requireNonNull(assembly.memory);
            message.wrap(assembly.format, memory, 0, assembly.filled, assembly.header, assembly.allowance, clock);
        } catch (FormatException e) {
            counts.dropped(MessageReason.RECORD.name(), 1);
            return;
        }
        Message going = calls.decide(message);
        if (going != null) {
            exit.sendCopies(going);
            exit.send(going);
        }
    }

    @Override
    public void broken(MessageReason reason) {
        counts.held(-1);
        counts.dropped(reason.name(), 1);
    }

    @Override
    public void stray(Packet packet, Allowance allowance) {
        isAsked = true;
        if (strayed(packet, allowance) == Verdict.FORWARD) {
            send(packet, null);
        }
    }

    // ---- runs of items ------------------------------------------------------------------------------------------

    private @Nullable Verdict run(Packet packet) {
        ByteBuffer look = packet.look();
        int from = look.position() + packet.headerLength();
        int end = look.limit();
        if (records(packet) < 0) {
            return other(packet, allowance);
        }
        missing = runs.missing(packet, look, from, end);
        if (missing != null) {
            return null;
        }
        Verdict verdict = runs.handle(packet, look, from, end, allowance);
        dropReason = runs.dropReason();
        return verdict;
    }

    @Override
    public void learnt(FormatId id) {
        if (!hold.isEmpty()) {
            waits.answered(id, true);
        }
    }

    // ---- formats that are not known -----------------------------------------------------------------------------

    @Override
    public void answersCame() {
        clock.begin();
        waits.takeAnswers();
        schedule();
    }

    @Override
    public @Nullable FormatId goOn(FormatHold.Held held) {
        credit = held.messages();
        missing = null;
        allowance = held.allowance();
        isAsked = true;
        Verdict verdict = null;
        try {
            verdict = handle(held.packet());
        } finally {
            if (verdict != null || missing == null) {
                loseCredit();
            }
            credit = 0;
        }
        if (verdict == null) {
            return missing();
        }
        if (verdict == Verdict.FORWARD) {
            send(held.packet(), null);
        } else if (verdict == Verdict.FORWARD_ELSEWHERE) {
            send(held.packet(), elsewhere);
        }
        return null;
    }

    /** Drops what a held packet was counted for and did not have. */
    private void loseCredit() {
        if (credit > 0) {
            counts.held(-credit);
            counts.dropped(MessageReason.RECORD.name(), credit);
        }
    }

    // ---- time ---------------------------------------------------------------------------------------------------

    private void schedule() {
        long due = handlerDueNs;
        due = earlier(due, reassembly.expire(now()));
        if (hold.eldest() != null) {
            due = earlier(due, hold.eldestEndsNs());
        }
        if (due != NEVER && (timerNs == NEVER || due - timerNs < 0)) {
            timerNs = due;
            long armed = due;
            Duration wait = Duration.ofNanos(due - now());
            node.after(wait.compareTo(LEAST_WAIT) < 0 ? LEAST_WAIT : wait, () -> due(armed));
        }
    }

    private static long earlier(long one, long other) {
        return one == NEVER || other != NEVER && other - one < 0 ? other : one;
    }

    private void due(long armed) {
        if (armed != timerNs) {
            return; // An earlier one has taken its place.
        }
        timerNs = NEVER;
        clock.begin();
        try {
            waits.takeAnswers();
            waits.expire();
            expireHandler();
        } finally {
            schedule();
        }
    }

    // ---- the end ------------------------------------------------------------------------------------------------

    /** Lets all go that is held; over TCP waits before for formats that are being asked for. */
    void end() {
        clock.begin();
        if (!isUdp) {
            waits.awaitRoom(Integer.MAX_VALUE);
        }
        ending = true;
        waits.refuseAll();
        reassembly.finish();
        exit.charge(Allowance.FREE);
        handler.finish(exit);
    }

    /** Counts what is still held as ended. */
    void close() {
        exit.release(counts.held(), MessageReason.ENDED.name());
    }
}
