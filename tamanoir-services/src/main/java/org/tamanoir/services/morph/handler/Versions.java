package org.tamanoir.services.morph.handler;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.tamanoir.format.Conversion;
import org.tamanoir.format.Format;
import org.tamanoir.format.FormatException;
import org.tamanoir.format.FormatFault;
import org.tamanoir.format.FormatMatcher;
import org.tamanoir.format.FormatMatcher.Policy;
import org.tamanoir.format.Target;
import org.tamanoir.message.Bound;
import org.tamanoir.message.Message;
import org.tamanoir.message.MessageHandler;
import org.tamanoir.message.Outcome;
import org.tamanoir.message.Outlet;

/**
 * Turns records of older versions of a format into the newest, step by step, oldest first: a record enters at the version
 * that it has all fields of and fewest besides, as {@link FormatMatcher} finds it.
 */
final class Versions implements MessageHandler {
    /** Kinds that make one record of one and hold nothing. */
    private static final Set<String> STEPS = Set.of("translate", "project", "select", "enrich");

    private static final int MAX_STEPS = 32;

    private final List<Format> versions = new ArrayList<>();
    private final List<MessageHandler> steps = new ArrayList<>();

    Versions(HandlerSettings settings) {
        List<HandlerSettings> items = settings.items("steps", "");
        if (items.isEmpty() || items.size() > MAX_STEPS) {
            throw settings.problem("steps", items.size() + " steps: 1 to " + MAX_STEPS + " are wanted");
        }
        for (HandlerSettings item : items) {
            versions.add(item.format("from"));
            List<String> kinds = item.keys().stream().filter(STEPS::contains).toList();
            if (kinds.size() != 1) {
                throw item.problem("from", "has " + kinds + " beside it: one of " + List.copyOf(STEPS) + " is wanted");
            }
            String kind = kinds.get(0);
            steps.add(HandlerKinds.make(item.path() + "." + kind, kind, item.value(kind), item.names()));
        }
        try {
            versions.add(chain(0, versions.get(0)).output(0));
        } catch (FormatException e) {
            throw settings.problem("steps", e.getMessage());
        }
    }

    private Chain chain(int from, Format input) {
        Format version = versions.get(from);
        boolean same = input.id().equals(version.id());
        Chain chain = new Chain(
                same ? null : new Converting(Conversion.compile(input, Target.of(version))), same ? input : version);
        for (MessageHandler step : steps.subList(from, steps.size())) {
            chain.add(step);
        }
        return chain;
    }

    @Override
    public Bound bind(Format input) {
        int version = FormatMatcher.choose(input, versions, Policy.SUPERSET, id -> null);
        if (version < 0) {
            throw new FormatException(
                    FormatFault.CONVERSION,
                    "format " + input.name() + " has not all fields of any of the versions of "
                            + versions.get(0).name());
        }
        return chain(version, input);
    }

    /** The steps from one version on. */
    private static final class Chain implements Bound {
        private final @Nullable Converting entry;
        private final List<Bound> steps = new ArrayList<>();
        private final Between between = new Between();
        private Format output;

        Chain(@Nullable Converting entry, Format output) {
            this.entry = entry;
            this.output = output;
        }

        void add(MessageHandler step) {
            Bound bound = step.bind(output);
            steps.add(bound);
            output = bound.output(0);
        }

        @Override
        public Format output(int port) {
            return output;
        }

        @Override
        public Outcome handle(Message message, Outlet outlet) throws Exception {
            Message now = entry == null ? message : entry.of(message);
            for (int i = 0; i < steps.size(); i++) {
                between.begin(now, outlet);
                Outcome outcome = steps.get(i).handle(now, between);
                if (outcome != Outcome.FORWARD) {
                    return outcome;
                }
                now = between.message;
            }
            if (now != message) {
                outlet.replace(now);
            }
            return Outcome.FORWARD;
        }
    }

    /** Takes what one step makes to the next one. */
    private static final class Between implements Outlet {
        private Message message = new Message();
        private @Nullable Outlet outlet;

        void begin(Message in, Outlet to) {
            message = in;
            outlet = to;
        }

        private Outlet outlet() {
            if (outlet == null) {
                throw new IllegalStateException("no message is in hand");
            }
            return outlet;
        }

        @Override
        public long nowNs() {
            return outlet().nowNs();
        }

        @Override
        public void to(long ports) {
            if (ports != 1) {
                throw new IllegalStateException("a step has one port");
            }
        }

        @Override
        public void replace(Message record) {
            message = record;
        }

        @Override
        public Outcome drop(String reason) {
            return outlet().drop(reason);
        }

        @Override
        public void emit(int port, Message made) {
            throw new IllegalStateException("a step makes one record of one");
        }

        @Override
        public void release(long messages, @Nullable String droppedFor) {
            throw new IllegalStateException("a step holds nothing");
        }
    }

    @Override
    public void close() {
        steps.forEach(MessageHandler::close);
    }
}
