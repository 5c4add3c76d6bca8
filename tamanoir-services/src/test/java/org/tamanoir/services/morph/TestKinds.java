package org.tamanoir.services.morph;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.tamanoir.format.Format;
import org.tamanoir.format.RecordEncoder;
import org.tamanoir.format.Target;
import org.tamanoir.message.Bound;
import org.tamanoir.message.Effect;
import org.tamanoir.message.Message;
import org.tamanoir.message.MessageHandler;
import org.tamanoir.message.Needs;
import org.tamanoir.message.Outcome;
import org.tamanoir.message.Outlet;
import org.tamanoir.services.morph.handler.HandlerSettings;
import org.tamanoir.services.morph.handler.PlanNames;

/** Small handlers of the tests, by kind. */
final class TestKinds implements HandlerMaker {
    /** Handlers that were made and not closed. */
    final AtomicInteger open = new AtomicInteger();

    /** What handlers of the kind stall wait for. */
    final CountDownLatch stall = new CountDownLatch(1);

    @Override
    public Set<String> kinds() {
        return Set.of(
                "pass",
                "modulo",
                "late",
                "pair",
                "gather",
                "swell",
                "copies",
                "throws",
                "endless",
                "stall",
                "window",
                "route",
                "needs",
                "aims",
                "unbound",
                "unweighed");
    }

    @Override
    public MessageHandler make(String path, String kind, @Nullable Object settings, PlanNames names) {
        Map<String, Object> tree = new LinkedHashMap<>();
        if (settings instanceof Map<?, ?> map) {
            map.forEach((key, value) -> tree.put(String.valueOf(key), value));
        } else if (settings != null) {
            tree.put("n", settings);
        }
        HandlerSettings read = new HandlerSettings(path, tree, names);
        MessageHandler handler = switch (kind) {
            case "pass" -> new Simple(new Effect(true, Set.of(), Set.of(), 1));
            case "modulo" -> modulo((int) read.number("n", 2, 1, 1000));
            case "late" -> new Late();
            case "pair" -> new Pair((int) read.number("n", 2, 1, 100));
            case "gather" -> new Gather((int) read.number("n", 2, 1, 100), false);
            case "swell" -> new Gather((int) read.number("n", 2, 1, 100), true);
            case "copies" -> copies((int) read.number("n", 2, 0, 1000));
            case "throws" ->
                simple((m, outlet) -> {
                    throw new IllegalStateException("flight " + Flights.id(m) + " is refused");
                });
            case "endless" ->
                simple((m, outlet) -> {
                    while (true) {
                        outlet.emit(0, m);
                    }
                });
            case "stall" ->
                simple((m, outlet) -> {
                    if (Flights.id(m) == read.number("n", 5, 0, 1_000_000)) {
                        stall.await();
                    }
                    return Outcome.FORWARD;
                });
            case "window" -> new Window(read.durationNs("n", "5s", 1, Long.MAX_VALUE));
            case "route" -> route((int) read.number("n", 2, 1, 64));
            case "needs" ->
                new Simple(Effect.UNKNOWN) {
                    @Override
                    public Needs needs() {
                        return new Needs(read.bytes("state", "0", 0, 1L << 40), read.number("ns", 0, 0, 1_000_000_000));
                    }
                };
            case "aims" ->
                simple((m, outlet) -> {
                    m.setDestination(InetSocketAddress.createUnresolved("aim", (int) read.number("n", 1, 1, 9)));
                    return Outcome.FORWARD;
                });
            case "unbound" ->
                new Simple(Effect.UNKNOWN) {
                    @Override
                    public Bound bind(Format input) {
                        throw new IllegalStateException("nothing is prepared for " + input.name());
                    }
                };
            case "unweighed" ->
                new Simple(Effect.UNKNOWN) {
                    @Override
                    public long heldBytes() {
                        throw new IllegalStateException("no scales");
                    }
                };
            default -> throw new IllegalArgumentException(path + ": no kind " + kind);
        };
        if (!Set.of("needs", "stall", "aims").contains(kind)) {
            read.requireNoOthers();
        }
        open.incrementAndGet();
        return handler;
    }

    /** What a test's handler does. */
    interface Body {
        Outcome handle(Message message, Outlet outlet) throws Exception;
    }

    /** Takes any format and gives it. */
    class Simple implements MessageHandler {
        private final Effect effect;

        Simple(Effect effect) {
            this.effect = effect;
        }

        Outcome handle(Message message, Outlet outlet) throws Exception {
            return Outcome.FORWARD;
        }

        Format output(Format input) {
            return input;
        }

        @Override
        public Bound bind(Format input) {
            Format given = output(input);
            return new Bound() {
                @Override
                public Format output(int port) {
                    return given;
                }

                @Override
                public Outcome handle(Message message, Outlet outlet) throws Exception {
                    return Simple.this.handle(message, outlet);
                }
            };
        }

        @Override
        public Effect effect() {
            return effect;
        }

        @Override
        public void close() {
            open.decrementAndGet();
        }
    }

    private Simple simple(Body body) {
        return new Simple(Effect.UNKNOWN) {
            @Override
            Outcome handle(Message message, Outlet outlet) throws Exception {
                return body.handle(message, outlet);
            }
        };
    }

    /** Lets multiples through. */
    private Simple modulo(int of) {
        return new Simple(new Effect(true, Set.of("id"), Set.of(), 1.0 / of)) {
            @Override
            Outcome handle(Message message, Outlet outlet) {
                return Flights.id(message) % of == 0 ? Outcome.FORWARD : outlet.drop("not a multiple of " + of);
            }
        };
    }

    /** Sends messages to ports by their numbers. */
    private Simple route(int ports) {
        return new Simple(Effect.UNKNOWN) {
            @Override
            public int ports() {
                return ports;
            }

            @Override
            Outcome handle(Message m, Outlet outlet) {
                outlet.to(1L << Flights.id(m) % ports);
                return Outcome.FORWARD;
            }
        };
    }

    /** Sends n copies on, and then the message. */
    private Simple copies(int n) {
        return simple((message, outlet) -> {
            for (int i = 0; i < n; i++) {
                message.setDestination(InetSocketAddress.createUnresolved("copy", i + 1));
                outlet.emit(0, message);
            }
            message.setDestination(null);
            return Outcome.FORWARD;
        });
    }

    /** Makes a flight a smaller record in memory that it uses again. */
    private final class Late extends Simple {
        private final ByteBuffer memory = ByteBuffer.allocate(1024);
        private final Message message = new Message();
        private @Nullable RecordEncoder encoder;

        Late() {
            super(new Effect(false, null, Set.of("delay", "hub"), 0.3));
        }

        @Override
        public List<Target> inputs() {
            return List.of(Target.of(Flights.FLIGHT));
        }

        @Override
        Format output(Format input) {
            return Flights.LATE;
        }

        @Override
        Outcome handle(Message in, Outlet outlet) {
            if (encoder == null) {
                encoder = new RecordEncoder(Flights.LATE);
            }
            int length = encoder.encode(Map.of("id", Flights.id(in)), memory, 0);
            outlet.replace(message.wrapLike(in, Flights.LATE, memory, 0, length));
            return Outcome.FORWARD;
        }
    }

    /** Holds messages until n are there, and gives the last one for all. */
    private final class Pair extends Simple {
        private final int n;
        private int waiting;

        Pair(int n) {
            super(Effect.UNKNOWN);
            this.n = n;
        }

        @Override
        Outcome handle(Message in, Outlet outlet) {
            if (++waiting < n) {
                return Outcome.HOLD;
            }
            outlet.emit(0, in);
            outlet.release(waiting - 1, null);
            waiting = 0;
            return Outcome.MERGE;
        }

        @Override
        public void finish(Outlet outlet) {
            outlet.release(waiting, "no partner");
            waiting = 0;
        }

        @Override
        public long heldBytes() {
            return 100L * waiting;
        }
    }

    /** Takes flights in, and makes one of n, with the hubs of all, of its own or in place of the last. */
    private final class Gather extends Simple {
        private final ByteBuffer memory = ByteBuffer.allocate(1 << 16);
        private final Message made = new Message();
        private final StringBuilder hubs = new StringBuilder();
        private final int n;
        private final boolean replaces;
        private int waiting;

        Gather(int n, boolean replaces) {
            super(Effect.UNKNOWN);
            this.n = n;
            this.replaces = replaces;
        }

        @Override
        Outcome handle(Message in, Outlet outlet) {
            hubs.append(Flights.FLIGHT.accessor("hub").getText(in.record(), 0));
            if (++waiting < n) {
                return Outcome.HOLD;
            }
            Map<String, Object> all = Map.of("id", Flights.id(in), "delay", 1, "hub", hubs.toString());
            int length = new RecordEncoder(Flights.FLIGHT).encode(all, memory, 0);
            outlet.release(waiting - 1, null);
            waiting = 0;
            hubs.setLength(0);
            if (replaces) {
                outlet.replace(made.wrapLike(in, Flights.FLIGHT, memory, 0, length));
                return Outcome.FORWARD;
            }
            outlet.emit(0, made.wrap(Flights.FLIGHT, memory, 0, length, in.header(), in.arrivalNs()));
            return Outcome.MERGE;
        }
    }

    /** Keeps copies for a time and lets them go then. */
    private final class Window extends Simple {
        private record Kept(byte[] bytes, long dueNs) {}

        private final long ns;
        private final Deque<Kept> kept = new ArrayDeque<>();
        private final Message message = new Message();

        Window(long ns) {
            super(Effect.UNKNOWN);
            this.ns = ns;
        }

        @Override
        Outcome handle(Message in, Outlet outlet) {
            byte[] bytes = new byte[in.record().length()];
            in.record().memory().get(in.record().start(), bytes);
            kept.add(new Kept(bytes, outlet.nowNs() + ns));
            return Outcome.HOLD;
        }

        @Override
        public long expire(long nowNs, Outlet outlet) {
            while (!kept.isEmpty() && kept.peek().dueNs <= nowNs) {
                give(outlet);
            }
            return kept.isEmpty() ? Long.MAX_VALUE : kept.peek().dueNs;
        }

        private void give(Outlet outlet) {
            byte[] bytes = kept.remove().bytes;
            outlet.emit(0, message.wrap(Flights.FLIGHT, ByteBuffer.wrap(bytes), 0, bytes.length, Flights.header(7), 0));
            outlet.release(1, null);
        }

        @Override
        public void finish(Outlet outlet) {
            while (!kept.isEmpty()) {
                give(outlet);
            }
        }
    }

    /** Texts that are there once. */
    static Set<String> distinct(List<String> texts) {
        return new HashSet<>(texts);
    }
}
