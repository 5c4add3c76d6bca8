package org.tamanoir.services.extra.cache;

import java.nio.ByteBuffer;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.Anep;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.ServiceKey;
import org.tamanoir.service.ChangesSize;
import org.tamanoir.service.ControlledBy;
import org.tamanoir.service.Counter;
import org.tamanoir.service.Service;
import org.tamanoir.service.ServiceConfig;
import org.tamanoir.service.Setting;
import org.tamanoir.service.Settings;
import org.tamanoir.service.SizeEffect;
import org.tamanoir.service.StreamInfo.Transport;
import org.tamanoir.service.Verdict;
import org.tamanoir.services.NextService;
import org.tamanoir.services.extra.Deadlines;
import org.tamanoir.services.extra.Header;
import org.tamanoir.services.extra.KeyedHash;
import org.tamanoir.services.extra.MadePacket;

/**
 * Answers requests for objects, each of which an origin knows by a key, from what the origin has answered before ({@link
 * CacheHeader}). A request for an object that is not here goes on to its destination, the origin; those for the same one
 * that come meanwhile wait, and one answer serves all. Objects are kept as long as the origin has said, that there is none
 * too; which of them are worth their memory {@link ObjectStore} says. Operators look and purge by {@link CacheControl}.
 *
 * <p>Kept is what an origin has answered to this node's own question: its answer has the source that the request was
 * sent to, the same key, and the question's id of 64 random bits, which is new for each. What nobody asked for is dropped.
 *
 * <p>An answer from here goes back to where its request came from; one that was waited for goes along the route of the
 * request's source. Neither is longer than {@code answer-growth} times the request, whose source may be forged: who asks
 * for more is told how long the request has to be. An origin that does not answer in time is told too.
 *
 * <p>This is for datagrams. Over TCP answers come back on their connection, past all services: there requests go on to
 * their origin as they came. So they do when too many wait.
 *
 * <p>Counters: {@code requests}, {@code hits} (with {@code hits-nothing}), {@code misses} (that asked the origin), {@code
 * joined} (that wait for another one's answer), {@code passed} (as they came), {@code answers} (of origins), {@code
 * timeouts}, {@code kept}, {@code too-large}, {@code sent} (answers to who waited), {@code refused} (by the node). Drops:
 * {@code no request and no answer}, {@code no source or no destination}, {@code answer to no question of this node}, {@code
 * request is too short for any answer}.
 */
@Settings(
        of = NextService.class,
        value = {
            @Setting(
                    name = "memory",
                    kind = Setting.Kind.NUMBER,
                    standard = "33554432",
                    min = 1 << 20,
                    max = 1 << 30,
                    text =
                            "bytes outside of the heap: for values, each in blocks of 256 bytes; keys take up to about as much of the heap"),
            @Setting(
                    name = "max-object",
                    kind = Setting.Kind.NUMBER,
                    standard = "65507",
                    min = 1,
                    max = 65_507,
                    text = "bytes, and a sixteenth of memory at most: a longer value is passed on and not kept"),
            @Setting(
                    name = "max-ttl-s",
                    kind = Setting.Kind.NUMBER,
                    standard = "3600",
                    min = 1,
                    max = 604_800,
                    text = "the longest that an object is kept"),
            @Setting(
                    name = "max-nothing-ttl-s",
                    kind = Setting.Kind.NUMBER,
                    standard = "60",
                    min = 0,
                    max = 604_800,
                    text = "the same of the answer that there is none"),
            @Setting(
                    name = "timeout-ms",
                    kind = Setting.Kind.NUMBER,
                    standard = "2000",
                    min = 10,
                    max = 60_000,
                    text = "how long an answer of an origin is waited for"),
            @Setting(
                    name = "questions",
                    kind = Setting.Kind.NUMBER,
                    standard = "4096",
                    min = 1,
                    max = 65_536,
                    text = "that origins are asked at once"),
            @Setting(
                    name = "waiting",
                    kind = Setting.Kind.NUMBER,
                    standard = "16384",
                    min = 1,
                    max = 262_144,
                    text = "requests that wait for answers"),
            @Setting(
                    name = "answer-growth",
                    kind = Setting.Kind.NUMBER,
                    standard = "3",
                    min = 1,
                    max = 65_536,
                    text =
                            "how much longer than its request an answer may be, IP and UDP headers included; the node bounds it too, limits.udp-answer-growth")
        })
@ChangesSize(SizeEffect.GROWS)
@ControlledBy(CacheControl.class)
public final class Cache extends Service {
    /** Of IPv4 and UDP, as the node counts them. */
    private static final int HEADER_BYTES = 28;

    private static final int MAX_QUEUED_BYTES = 1 << 20;
    private static final long NS_PER_MS = 1_000_000;
    private static final SecureRandom RANDOM = new SecureRandom();

    /** An answer that has come, and who it is for. */
    private record Answer(Question question, int kind, long number, ByteBuffer value) {}

    private final KeyedHash hash = new KeyedHash();
    private final CacheKey wanted = new CacheKey(hash);
    private final Header header = new Header();
    private final MadePacket made = new MadePacket();
    private final Map<CacheKey, Question> questions = new HashMap<>();
    private final Map<Long, Question> questionsById = new HashMap<>();
    private final ArrayDeque<Answer> answers = new ArrayDeque<>();
    private final Runnable send = this::send;
    private Deadlines<Question> deadlines = deadlines(Duration.ZERO);
    private @Nullable ObjectStore store;
    private @Nullable CacheControl control;
    private NextService next = new NextService(0);
    private long maxTtlMs;
    private long maxNothingTtlMs;
    private int maxQuestions;
    private int maxWaiting;
    private int answerGrowth = 1;
    private int waiting;
    private int queuedBytes;
    private boolean isSending;
    private Counter requests = new Counter("requests");
    private Counter hits = new Counter("hits");
    private Counter hitsNothing = new Counter("hits-nothing");
    private Counter misses = new Counter("misses");
    private Counter joined = new Counter("joined");
    private Counter passed = new Counter("passed");
    private Counter answered = new Counter("answers");
    private Counter timeouts = new Counter("timeouts");
    private Counter kept = new Counter("kept");
    private Counter tooLarge = new Counter("too-large");
    private Counter sent = new Counter("sent");
    private Counter refused = new Counter("refused");

    @Override
    public void init(ServiceConfig config) {
        config.allow(
                "memory",
                "max-object",
                "max-ttl-s",
                "max-nothing-ttl-s",
                "timeout-ms",
                "questions",
                "waiting",
                "answer-growth",
                "next");
        long memory = config.number("memory", 32 << 20, 1 << 20, 1 << 30);
        long share = Math.min(Anep.MAX_DATAGRAM_OCTETS, memory / 16);
        int maxObject = (int) config.number("max-object", share, 1, share);
        maxTtlMs = config.number("max-ttl-s", 3600, 1, 604_800) * 1000;
        maxNothingTtlMs = config.number("max-nothing-ttl-s", 60, 0, 604_800) * 1000;
        deadlines = deadlines(
                config.millis("timeout-ms", Duration.ofSeconds(2), Duration.ofMillis(10), Duration.ofMinutes(1)));
        maxQuestions = (int) config.number("questions", 4096, 1, 65_536);
        maxWaiting = (int) config.number("waiting", 16_384, 1, 262_144);
        answerGrowth = (int) config.number("answer-growth", 3, 1, 65_536);
        next = NextService.of(config);
        requests = counter("requests");
        hits = counter("hits");
        hitsNothing = counter("hits-nothing");
        misses = counter("misses");
        joined = counter("joined");
        passed = counter("passed");
        answered = counter("answers");
        timeouts = counter("timeouts");
        kept = counter("kept");
        tooLarge = counter("too-large");
        sent = counter("sent");
        refused = counter("refused");
        if (stream().transport() == Transport.UDP) {
            ObjectStore made = new ObjectStore(memory, maxObject, this::nanoTime);
            store = made;
            control = control(CacheControl.class);
            control.add(this, made, memory);
        }
    }

    private Deadlines<Question> deadlines(Duration timeout) {
        return new Deadlines<>(timeout, this::nanoTime, this::after, question -> {
            timeouts.add(1);
            end(question);
            send(new Answer(question, CacheHeader.UNREACHABLE, 0, ByteBuffer.allocate(0)));
        });
    }

    @Override
    public Verdict process(Packet packet) {
        ObjectStore objects = store;
        if (objects == null) {
            return pass(packet);
        }
        int kind = CacheHeader.kind(packet);
        if (kind == 0) {
            return drop("no request and no answer");
        }
        if (!packet.hasInternetSource() || !packet.hasInternetDestination()) {
            return drop("no source or no destination");
        }
        return kind == CacheHeader.REQUEST ? request(packet, objects) : answer(packet, kind, objects);
    }

    private Verdict request(Packet packet, ObjectStore objects) {
        requests.add(1);
        ByteBuffer payload = packet.payload();
        int at = payload.position() + CacheHeader.BYTES;
        wanted.set(
                packet.destinationHigh(),
                packet.destinationLow(),
                packet.destinationPort(),
                payload,
                at,
                CacheHeader.keyBytes(payload));
        ObjectStore.Entry entry = objects.find(wanted);
        if (entry != null) {
            return hit(packet, CacheHeader.id(payload), entry, objects);
        }
        Question question = questions.get(wanted);
        if (waiting >= maxWaiting || question == null && questions.size() >= maxQuestions) {
            return pass(packet);
        }
        waiting++;
        Question.Waiting one =
                new Question.Waiting(header.read(packet).copy(), CacheHeader.id(payload), maxAnswerBytes(packet));
        if (question != null) {
            question.waiting().add(one);
            joined.add(1);
            return Verdict.CONSUME;
        }
        Question asked = new Question(wanted.copy(), RANDOM.nextLong());
        asked.waiting().add(one);
        questions.put(asked.key(), asked);
        questionsById.put(asked.id(), asked);
        deadlines.add(asked);
        payload.putLong(payload.position() + CacheHeader.ID_AT, asked.id());
        payload.putLong(payload.position() + CacheHeader.REPLY_KEY_AT, packet.serviceKey());
        next.name(packet);
        misses.add(1);
        return Verdict.FORWARD;
    }

    private Verdict pass(Packet packet) {
        next.name(packet);
        passed.add(1);
        return Verdict.FORWARD;
    }

    private int maxAnswerBytes(Packet request) {
        long bytes = (long) (request.length() + HEADER_BYTES) * answerGrowth - HEADER_BYTES;
        return (int) Math.min(bytes, Anep.MAX_DATAGRAM_OCTETS);
    }

    private Verdict hit(Packet packet, long id, ObjectStore.Entry entry, ObjectStore objects) {
        int payloadBytes = CacheHeader.BYTES + wanted.bytes() + entry.bytes();
        int bytes = packet.headerLength() + payloadBytes;
        boolean fits = bytes <= maxAnswerBytes(packet);
        if (!fits && !isRoomToSay(packet.headerLength(), wanted, maxAnswerBytes(packet))) {
            return drop("request is too short for any answer");
        }
        hits.add(1);
        if (!fits) {
            ByteBuffer room = packet.newPayload(CacheHeader.BYTES + wanted.bytes());
            CacheHeader.write(room, CacheHeader.LONGER, wanted.bytes(), requestBytes(bytes), id);
            wanted.writeTo(room);
            packet.commitPayload(CacheHeader.BYTES + wanted.bytes());
        } else {
            hitsNothing.add(entry.isNothing() ? 1 : 0);
            ByteBuffer room = packet.newPayload(payloadBytes);
            int kind = entry.isNothing() ? CacheHeader.NOTHING : CacheHeader.VALUE;
            CacheHeader.write(room, kind, wanted.bytes(), (entry.untilNs() - nanoTime()) / NS_PER_MS, id);
            wanted.writeTo(room);
            objects.read(entry, room);
            packet.commitPayload(payloadBytes);
        }
        if (packet.serviceKey() != ServiceKey.NONE) {
            packet.setServiceKey(ServiceKey.NONE);
        }
        return Verdict.REPLY;
    }

    private static boolean isRoomToSay(int headerBytes, CacheKey key, int maxBytes) {
        return headerBytes + CacheHeader.BYTES + key.bytes() <= maxBytes;
    }

    /** Returns how many octets a request for such an answer must have. */
    private int requestBytes(int answerBytes) {
        return (answerBytes + HEADER_BYTES + answerGrowth - 1) / answerGrowth - HEADER_BYTES;
    }

    private Verdict answer(Packet packet, int kind, ObjectStore objects) {
        ByteBuffer payload = packet.payload();
        int keyBytes = CacheHeader.keyBytes(payload);
        int at = payload.position() + CacheHeader.BYTES;
        Question question = questionsById.get(CacheHeader.id(payload));
        if (question == null
                || !question.key().isOf(packet.sourceHigh(), packet.sourceLow())
                || !question.key().hasOctets(payload, at, keyBytes)) {
            return drop("answer to no question of this node");
        }
        answered.add(1);
        deadlines.remove(question);
        end(question);
        long number = CacheHeader.number(payload);
        payload.position(at + keyBytes);
        if (kind == CacheHeader.VALUE || kind == CacheHeader.NOTHING) {
            number = Math.min(number, kind == CacheHeader.VALUE ? maxTtlMs : maxNothingTtlMs);
            if (number > 0 && !question.isPurged()) {
                boolean isKept = objects.put(question.key(), kind == CacheHeader.NOTHING, number * NS_PER_MS, payload);
                (isKept ? kept : tooLarge).add(1);
            }
        }
        ByteBuffer value = ByteBuffer.allocate(payload.remaining()).put(payload).flip();
        answers.add(new Answer(question, kind, number, value));
        queuedBytes += value.remaining();
        sendSoon();
        return Verdict.CONSUME;
    }

    private void end(Question question) {
        questions.remove(question.key());
        questionsById.remove(question.id());
        waiting -= question.waiting().size();
    }

    /** Has answers leave behind the packet in hand: each was asked for by its own request, and that bounds it. */
    private void sendSoon() {
        if (queuedBytes > MAX_QUEUED_BYTES) {
            send();
        } else if (!isSending) {
            isSending = execute(send);
            if (!isSending) {
                send();
            }
        }
    }

    private void send() {
        isSending = false;
        for (Answer answer = answers.poll(); answer != null; answer = answers.poll()) {
            queuedBytes -= answer.value.remaining();
            send(answer);
        }
    }

    private void send(Answer answer) {
        CacheKey key = answer.question.key();
        for (Question.Waiting one : answer.question.waiting()) {
            int headerBytes = one.header().length();
            int bytes = headerBytes + CacheHeader.BYTES + key.bytes() + answer.value.remaining();
            boolean fits = bytes <= one.maxBytes();
            if (!fits && !isRoomToSay(headerBytes, key, one.maxBytes())) {
                refused.add(1);
                continue;
            }
            int payloadBytes = fits ? bytes - headerBytes : CacheHeader.BYTES + key.bytes();
            ByteBuffer room = made.room(one.header(), payloadBytes);
            CacheHeader.write(
                    room,
                    fits ? answer.kind : CacheHeader.LONGER,
                    key.bytes(),
                    fits ? answer.number : requestBytes(bytes),
                    one.id());
            key.writeTo(room);
            if (fits) {
                room.put(answer.value.duplicate());
            }
            Packet packet = made.finish(
                    one.header(), one.header().sequence(), one.header().originNs(), payloadBytes);
            packet.setServiceKey(ServiceKey.NONE);
            (packet.swapEnds() && emit(packet) ? sent : refused).add(1);
        }
    }

    /** Forgets an object, and what is being asked of it. Returns how many there were. The service's thread. */
    long purge(long high, long low, int port, byte[] key) {
        CacheKey purged = new CacheKey(hash).set(high, low, port, ByteBuffer.wrap(key), 0, key.length);
        Question question = questions.get(purged);
        if (question != null) {
            question.purge();
        }
        ObjectStore objects = store;
        return objects != null && objects.remove(purged) ? 1 : 0;
    }

    /** Forgets all objects. Returns how many there were. The service's thread. */
    long clear() {
        questions.values().forEach(Question::purge);
        ObjectStore objects = store;
        return objects == null ? 0 : objects.clear();
    }

    @Override
    public void endOfStream() {
        send();
        for (Question question : new ArrayList<>(questions.values())) {
            end(question);
            send(new Answer(question, CacheHeader.UNREACHABLE, 0, ByteBuffer.allocate(0)));
        }
    }

    @Override
    public void close() {
        CacheControl there = control;
        if (there != null) {
            there.remove(this);
        }
    }
}
