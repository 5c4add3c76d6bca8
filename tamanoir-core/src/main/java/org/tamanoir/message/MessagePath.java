package org.tamanoir.message;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.Option;
import org.tamanoir.anep.Packet;
import org.tamanoir.format.Format;
import org.tamanoir.format.FormatException;
import org.tamanoir.format.FormatId;
import org.tamanoir.format.FormatSource;
import org.tamanoir.format.RecordView;
import org.tamanoir.message.MessageSettings.Policy;
import org.tamanoir.service.Counter;
import org.tamanoir.service.StreamInfo;
import org.tamanoir.service.StreamInfo.Transport;
import org.tamanoir.service.Verdict;

/**
 * The way of messages through a service: packets become messages, the handler sees them, messages become packets.
 *
 * <p>Thread contract: the service's thread.
 */
final class MessagePath implements Reassembly.Sink {
    /** What the service lends. */
    interface Node extends Segmenter.Way {
        long nanoTime();

        void after(Duration delay, Runnable task);

        boolean execute(Runnable task);

        FormatSource formats();

        StreamInfo stream();

        Counter counter(String name);
    }

    /** What asking for a format led to. */
    private record Answer(FormatId id, boolean known) {}

    private static final long NEVER = Long.MAX_VALUE;
    private static final Duration LEAST_WAIT = Duration.ofMillis(1);
    /** The sender has gone: nobody waits long for what it sent; a node gives up what does not return for 30 s. */
    private static final long END_WAIT_NS = 10_000_000_000L;

    private static final int ID_BYTES = FormatId.MAX_BYTES;

    private final MessageHandler handler;
    private final MessageSettings settings;
    private final Node node;
    private final boolean isUdp;
    private final FormatSource formats;
    private final Introductions introductions;
    private final Bindings bindings;
    private final Segmenter segmenter;
    private final Reassembly reassembly;
    private final FormatHold hold;
    private final BlockingQueue<Answer> answers = new LinkedBlockingQueue<>();
    private final Counter others;
    private final MessageCounts counts;
    private final Exit exit;
    private final RunWriter run;
    private final Message message = new Message();
    private final Message converted = new Message();

    /** Messages of the packet in hand that are counted already, since it was held. */
    private int credit;
    /** The format that the packet in hand has to wait for. */
    private @Nullable FormatId missing;

    private @Nullable String dropReason;
    private @Nullable InetSocketAddress elsewhere;
    /** What the node has thrown, which is none of the handler's failures. */
    private @Nullable RuntimeException fault;

    private final LongSupplier clock = this::now;
    private final boolean handlerKnowsTime;
    private long nowNs;
    private boolean timeRead;
    private boolean failureReported;
    private boolean ending;
    private long handlerDueNs = NEVER;
    private long timerNs = NEVER;

    MessagePath(MessageHandler handler, MessageSettings settings, Node node) {
        this.handler = handler;
        handlerKnowsTime = knowsTime(handler);
        this.settings = settings;
        this.node = node;
        isUdp = node.stream().transport() == Transport.UDP;
        formats = node.formats();
        counts = new MessageCounts(node::counter);
        others = node.counter("packets.other");
        introductions = new Introductions(settings.introduced(), formats.known(), node::counter);
        bindings = new Bindings(handler, formats.known());
        segmenter = new Segmenter(settings.packetBytes(node.stream().transport()), this::emit);
        reassembly = new Reassembly(settings, this);
        hold = new FormatHold(settings, !isUdp);
        exit = new Exit(counts, segmenter, clock);
        run = new RunWriter(segmenter);
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
        timeRead = false;
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
        timeRead = false;
        if (!answers.isEmpty()) {
            takeAnswers();
        }
        if (handlerDueNs != NEVER && now() - handlerDueNs >= 0) {
            handlerDueNs = handler.expire(now(), exit);
        }
        Verdict verdict = handleOrHold(packet);
        if (handlerKnowsTime) {
            handlerDueNs = handler.expire(now(), exit);
        }
        if (handlerDueNs != NEVER || !reassembly.isEmpty() || !hold.isEmpty()) {
            schedule();
        }
        return verdict;
    }

    /** Returns the time of the packet or task in hand; a clock that nobody asks costs nothing. */
    private long now() {
        if (!timeRead) {
            nowNs = node.nanoTime();
            timeRead = true;
        }
        return nowNs;
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
        FormatHold.Flow flow = hold.flow(packet);
        if (flow == null) {
            Verdict verdict = handle(packet);
            if (verdict != null) {
                return verdict;
            }
            flow = hold.block(packet, missing(), now());
            ask(missing(), packet);
        }
        int messages = messages(packet);
        counts.in(messages);
        if (hold.add(flow, packet, messages)) {
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
        if (!packet.isTamanoir() || packet.has(Option.FORMAT)) {
            return packet.isTamanoir() ? 1 : 0;
        }
        ByteBuffer look = packet.look();
        return packet.has(Option.STREAM)
                ? 0
                : Math.max(0, Items.records(look, look.position() + packet.headerLength(), look.limit()));
    }

    /** Returns what becomes of a packet; null if it has to wait for the {@link #missing} format. */
    private @Nullable Verdict handle(Packet packet) {
        if (!packet.isTamanoir()) {
            return other();
        }
        if (packet.has(Option.FORMAT)) {
            return beginning(packet);
        }
        return packet.has(Option.STREAM) ? continuation(packet) : run(packet);
    }

    private Verdict other() {
        if (settings.other() == Policy.DROP) {
            return dropping(MessageReason.OTHER.name());
        }
        others.add(1);
        return Verdict.FORWARD;
    }

    private Verdict dropping(String reason) {
        dropReason = reason;
        return Verdict.DROP;
    }

    /** Counts a message that came, unless it was counted when it was held. */
    private void arrive() {
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
            reason = reassembly.begin(packet, look, format, now());
            if (reason == null) {
                return Verdict.CONSUME;
            }
            counts.held(-1);
        }
        return refuse(packet, reason);
    }

    private boolean mayWait(FormatId id) {
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
        counts.out(1);
        return Verdict.FORWARD;
    }

    private Verdict whole(Packet packet, Format format, ByteBuffer look, int at, boolean blank) {
        try {
            message.wrap(format, look, at, packet.payloadLength(), packet, clock);
        } catch (FormatException e) {
            return refuse(packet, MessageReason.RECORD);
        }
        if (blank) {
            packet.setFormat(look, at, format.id().length());
        }
        Message going = decide(message);
        if (going == null) {
            return ended();
        }
        exit.sendCopies(going);
        if (going != message) {
            RecordView record = going.record();
            if (packet.headerLength() + record.length() > segmenter.packetBytes()) {
                exit.send(going);
                return Verdict.CONSUME;
            }
            replace(packet, record);
        }
        counts.out(1);
        elsewhere = going.destination();
        return elsewhere == null ? Verdict.FORWARD : Verdict.FORWARD_ELSEWHERE;
    }

    private static void replace(Packet packet, RecordView record) {
        int bytes = record.length();
        ByteBuffer room = packet.newPayload(bytes);
        room.put(room.position(), record.memory(), record.start(), bytes);
        packet.commitPayload(bytes);
        packet.setFormat(record.memory(), record.start(), record.format().id().length());
    }

    private Verdict ended() {
        return dropReason == null ? Verdict.CONSUME : Verdict.DROP;
    }

    // ---- the handler --------------------------------------------------------------------------------------------

    /** Gives a message to the handler; returns what goes on, null if it has ended, which is counted then. */
    private @Nullable Message decide(Message came) {
        Bindings.Binding binding = binding(came.format());
        Bound bound = binding.bound();
        exit.begin();
        Message subject = came;
        Outcome outcome;
        boolean returned = false;
        try {
            if (bound == null) {
                outcome = settings.other() == Policy.PASS ? Outcome.FORWARD : exit.drop(MessageReason.UNFIT.name());
            } else {
                if (binding.conversion() != null) {
                    int bytes = binding.conversion().convert(came.record());
                    Format target = binding.conversion().target();
                    subject = converted.wrapLike(
                            came, target, binding.conversion().memory(), 0, bytes);
                }
                outcome =
                        Objects.requireNonNull(bound.handle(subject, exit), "handle returned null: return an Outcome");
            }
            returned = true;
        } catch (FormatException e) {
            outcome = exit.drop(MessageReason.RECORD.name());
            returned = true;
        } catch (Exception e) {
            if (e == fault) {
                throw (RuntimeException) e;
            }
            returned = true;
            report(e);
            outcome = exit.drop(MessageReason.FAILED.name());
            if (settings.failure() == Policy.PASS) {
                exit.begin();
                subject = came;
                outcome = Outcome.FORWARD;
            }
        } finally {
            if (!returned) {
                counts.dropped(MessageReason.FAILED.name(), 1);
            }
        }
        return settle(outcome, subject);
    }

    private @Nullable Message settle(Outcome outcome, Message subject) {
        dropReason = null;
        switch (outcome) {
            case FORWARD -> {
                if (exit.ports != 0) {
                    return exit.replacement != null ? exit.replacement : subject;
                }
                dropReason = MessageReason.NO_PORT.name();
            }
            case DROP -> dropReason = exit.reason;
            case HOLD -> counts.held(1);
            case MERGE -> counts.merged(1);
        }
        if (dropReason != null) {
            counts.dropped(dropReason, 1);
        }
        return null;
    }

    private Bindings.Binding binding(Format format) {
        try {
            return bindings.of(format);
        } catch (RuntimeException e) {
            report(e);
            return Bindings.UNFIT;
        }
    }

    /** Has the node count and log what the handler threw, by a task that throws it: no packet is at fault. */
    private void report(Exception failure) {
        if (!failureReported) {
            failureReported = true;
            node.after(Duration.ZERO, () -> {
                failureReported = false;
                throw failure instanceof RuntimeException known ? known : new IllegalStateException(failure);
            });
        }
    }

    private void emit(Packet packet, @Nullable InetSocketAddress destination) {
        try {
            node.send(packet, destination);
        } catch (RuntimeException e) {
            fault = e;
            throw e;
        }
    }

    // ---- packets that continue a message ------------------------------------------------------------------------

    private Verdict continuation(Packet packet) {
        return switch (reassembly.next(packet, packet.look(), now(), isUdp && !ending)) {
            case TAKEN -> Verdict.CONSUME;
            case STRAY -> other();
            case PASSES -> Verdict.FORWARD;
            case DUPLICATE -> dropping(MessageReason.DUPLICATE.name());
            case DROPPED -> dropping(MessageReason.INCOMPLETE.name());
        };
    }

    @Override
    public void whole(Assembly assembly) {
        counts.held(-1);
        try {
            ByteBuffer memory = Objects.requireNonNull(assembly.memory);
            message.wrap(assembly.format, memory, 0, assembly.filled, assembly.header, clock);
        } catch (FormatException e) {
            counts.dropped(MessageReason.RECORD.name(), 1);
            return;
        }
        Message going = decide(message);
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
    public void stray(Packet packet) {
        if (other() == Verdict.FORWARD) {
            emit(packet, null);
        }
    }

    // ---- runs of items ------------------------------------------------------------------------------------------

    private @Nullable Verdict run(Packet packet) {
        ByteBuffer look = packet.look();
        int from = look.position() + packet.headerLength();
        int end = look.limit();
        int records = Items.records(look, from, end);
        if (records < 0) {
            return other();
        }
        if (!areKnown(packet, look, from, end)) {
            return null;
        }
        run.begin(packet, look, from);
        dropReason = null;
        String reason = null;
        for (int at = from, length; at < end; at += length) {
            length = Items.length(look, at, end);
            int kind = Items.kind(look, at);
            boolean stays = kind == Items.DATA
                    ? stays(packet, look, at, length)
                    : kind != Items.FORMAT || introductions.isKnown(look, at);
            if (stays) {
                run.keep(at, length);
            } else {
                run.cut(at);
            }
            reason = dropReason != null ? dropReason : reason;
        }
        if (!run.isChanged()) {
            return Verdict.FORWARD;
        }
        if (run.isEmpty()) {
            dropReason = reason;
            return ended();
        }
        run.intoPacket();
        return Verdict.FORWARD;
    }

    /** Learns the formats that a run introduces, and returns whether those of all its records are known or given up. */
    private boolean areKnown(Packet packet, ByteBuffer look, int from, int end) {
        for (int at = from, length; at < end; at += length) {
            length = Items.length(look, at, end);
            int kind = Items.kind(look, at);
            if (kind == Items.FORMAT) {
                FormatId learnt = introductions.learn(packet, look, at, length);
                if (learnt != null && !hold.isEmpty()) {
                    answer(learnt, true);
                }
            } else if (kind == Items.DATA) {
                int room = length - Items.HEAD;
                if (formats.known().find(look, at + Items.HEAD, room) == null) {
                    FormatId id = idAt(look, at + Items.HEAD, room);
                    if (id != null && mayWait(id)) {
                        missing = id;
                        return false;
                    }
                }
            }
        }
        return true;
    }

    private static @Nullable FormatId idAt(ByteBuffer memory, int at, int room) {
        try {
            return FormatId.read(memory, at, room);
        } catch (FormatException e) {
            return null;
        }
    }

    /** Returns whether the record of an item stays in its run as it is; what takes its place is there already if not. */
    private boolean stays(Packet packet, ByteBuffer look, int item, int length) {
        arrive();
        dropReason = null;
        int at = item + Items.HEAD;
        int bytes = length - Items.HEAD;
        Format format = formats.known().find(look, at, bytes);
        if (format == null) {
            return settings.failure() == Policy.PASS ? passed() : lost(MessageReason.FORMAT);
        }
        try {
            message.wrap(format, look, at, bytes, packet, clock);
        } catch (FormatException e) {
            return lost(MessageReason.RECORD);
        }
        if (message.record().length() != bytes) {
            return lost(MessageReason.RECORD);
        }
        Message going = decide(message);
        if (going == null) {
            return false;
        }
        exit.sendCopies(going);
        if (going.destination() != null) {
            exit.send(going);
            return false;
        }
        if (going == message) {
            return passed();
        }
        if (run.put(item, going.record())) {
            counts.out(1);
        } else {
            exit.send(going);
        }
        return false;
    }

    private boolean passed() {
        counts.out(1);
        return true;
    }

    private boolean lost(MessageReason reason) {
        dropReason = reason.name();
        counts.dropped(dropReason, 1);
        return false;
    }

    // ---- formats that are not known -----------------------------------------------------------------------------

    private void ask(FormatId id, Packet packet) {
        if (hold.ask(id, now())) {
            formats.request(id, previousNode(packet), format -> answer(id, format != null));
        }
    }

    /** Hands an answer to the service's thread. Any thread. */
    private void answer(FormatId id, boolean known) {
        answers.add(new Answer(id, known));
        // If it does not run, the answer is taken with the next packet, or when its time is over.
        boolean ignored = node.execute(this::takeAnswers);
    }

    /** Returns the code server of the node before; an unspecified address stands for that node's own. */
    private @Nullable InetSocketAddress previousNode(Packet packet) {
        InetSocketAddress named = packet.previousNode();
        if (named == null || !named.getAddress().isAnyLocalAddress()) {
            return named;
        }
        InetSocketAddress peer = node.stream().peer();
        return peer == null ? null : new InetSocketAddress(peer.getAddress(), named.getPort());
    }

    private void takeAnswers() {
        timeRead = false;
        Answer answer;
        while ((answer = answers.poll()) != null) {
            take(answer);
        }
        schedule();
    }

    private void take(Answer answer) {
        hold.answered(answer.id, answer.known, now());
        for (FormatHold.Flow flow : hold.waitingFor(answer.id)) {
            goOn(flow);
        }
    }

    /** Handles packets of a stream that have waited, until the next one has to. */
    private void goOn(FormatHold.Flow flow) {
        while (!flow.packets.isEmpty()) {
            FormatHold.Held held = flow.packets.element();
            credit = held.messages();
            missing = null;
            Verdict verdict = null;
            try {
                verdict = handle(held.packet());
            } finally {
                if (verdict != null || missing == null) {
                    hold.taken(flow);
                    loseCredit();
                }
            }
            credit = 0;
            if (verdict == null) {
                flow.waitsFor = missing();
                ask(missing(), held.packet());
                return;
            }
            if (verdict == Verdict.FORWARD) {
                emit(held.packet(), null);
            } else if (verdict == Verdict.FORWARD_ELSEWHERE) {
                emit(held.packet(), elsewhere);
            }
        }
    }

    /** Drops what a held packet was counted for and did not have. */
    private void loseCredit() {
        if (credit > 0) {
            counts.held(-credit);
            counts.dropped(MessageReason.RECORD.name(), credit);
            credit = 0;
        }
    }

    private void expireHold() {
        FormatId eldest;
        while ((eldest = hold.eldest()) != null && now() - hold.eldestEndsNs() >= 0) {
            take(new Answer(eldest, false));
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
        takeAnswers();
        long now = now();
        try {
            expireHold();
            handlerDueNs = NEVER;
            handlerDueNs = handler.expire(now, exit);
        } finally {
            schedule();
        }
    }

    // ---- the end ------------------------------------------------------------------------------------------------

    /** Lets all go that is held; over TCP waits before for formats that are being asked for. */
    void end() {
        timeRead = false;
        if (!isUdp) {
            awaitAnswers();
        }
        ending = true;
        FormatId eldest;
        while ((eldest = hold.eldest()) != null) {
            take(new Answer(eldest, false));
        }
        reassembly.finish();
        handler.finish(exit);
    }

    private void awaitAnswers() {
        long deadline = now() + END_WAIT_NS;
        FormatId eldest;
        while (!hold.isEmpty() && (eldest = hold.eldest()) != null && deadline - now() > 0) {
            try {
                long wait = Math.min(hold.eldestEndsNs(), deadline) - now();
                Answer answer = answers.poll(wait, TimeUnit.NANOSECONDS);
                timeRead = false;
                take(answer != null ? answer : new Answer(eldest, false));
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return;
            }
        }
    }

    /** Counts what is still held as ended. */
    void close() {
        exit.release(counts.held(), MessageReason.ENDED.name());
    }
}
