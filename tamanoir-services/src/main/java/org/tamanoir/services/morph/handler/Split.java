package org.tamanoir.services.morph.handler;

import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.AddressText;
import org.tamanoir.format.Format;
import org.tamanoir.format.FormatException;
import org.tamanoir.format.FormatFault;
import org.tamanoir.format.RecordView;
import org.tamanoir.message.Bound;
import org.tamanoir.message.Effect;
import org.tamanoir.message.Message;
import org.tamanoir.message.MessageHandler;
import org.tamanoir.message.Outcome;
import org.tamanoir.message.Outlet;
import org.tamanoir.services.morph.expression.Expression;
import org.tamanoir.services.morph.expression.ResultType;

/**
 * Sends each message along several branches, each with a destination, a condition and a selection of fields of its own.
 * The record's bytes are shared. The last branch that takes a message has the message itself, the others made ones.
 */
final class Split implements MessageHandler {
    static final String NOBODY = "split: no branch takes it";

    private static final int MAX_BRANCHES = 64;

    private final List<Branch> branches = new ArrayList<>();
    private final int ports;

    private record Branch(
            @Nullable InetSocketAddress to,
            @Nullable Condition when,
            @Nullable Select select,
            int port) {}

    Split(HandlerSettings settings) {
        List<HandlerSettings> items = settings.items("to", "to");
        if (items.isEmpty() || items.size() > MAX_BRANCHES) {
            throw settings.problem("to", items.size() + " branches: 1 to " + MAX_BRANCHES + " are wanted");
        }
        for (HandlerSettings item : items) {
            branches.add(new Branch(
                    item.has("to") ? address(item) : null,
                    item.has("when") ? Condition.of(item, "when") : null,
                    item.has("select") ? new Select(item.section("select", "fields")) : null,
                    (int) item.number("port", 0, 0, MAX_BRANCHES - 1)));
        }
        ports = 1 + branches.stream().mapToInt(Branch::port).max().orElse(0);
    }

    /** Reads an address with a port; names are not looked up. */
    private static InetSocketAddress address(HandlerSettings item) {
        try {
            return AddressText.withPort(item.text("to"));
        } catch (IllegalArgumentException e) {
            throw item.problem("to", String.valueOf(e.getMessage()));
        }
    }

    @Override
    public int ports() {
        return ports;
    }

    private final class Splitting implements Bound {
        private final Format input;
        private final List<@Nullable Expression> conditions = new ArrayList<>();
        private final List<@Nullable Converting> selections = new ArrayList<>();
        private final Format[] outputs = new Format[ports];
        private final Message shared = new Message();

        Splitting(Format input) {
            this.input = input;
            for (Branch branch : branches) {
                conditions.add(branch.when == null ? null : branch.when.compile(input, ResultType.BOOL));
                Bound selection = branch.select == null ? new Passing(input) : branch.select.bind(input);
                selections.add(selection instanceof Converting converting ? converting : null);
                Format output = selection.output(0);
                Format other = outputs[branch.port];
                if (other != null && !other.id().equals(output.id())) {
                    throw new FormatException(
                            FormatFault.CONVERSION,
                            "branches at port " + branch.port + " select different fields: give one another port");
                }
                outputs[branch.port] = output;
            }
        }

        @Override
        public Format output(int port) {
            Format output = outputs[port];
            return output == null ? input : output;
        }

        @Override
        public Outcome handle(Message message, Outlet outlet) {
            // All conditions first: one that fails fails before anything has left.
            long taken = 0;
            for (int i = 0; i < conditions.size(); i++) {
                Expression condition = conditions.get(i);
                taken |= condition == null || condition.test(message.record()) ? 1L << i : 0;
            }
            if (taken == 0) {
                return outlet.drop(NOBODY);
            }
            for (; Long.bitCount(taken) > 1; taken &= taken - 1) {
                int branch = Long.numberOfTrailingZeros(taken);
                outlet.emit(branches.get(branch).port, along(branch, message));
            }
            int last = Long.numberOfTrailingZeros(taken);
            outlet.replace(along(last, message));
            outlet.to(1L << branches.get(last).port);
            return Outcome.FORWARD;
        }

        private Message along(int number, Message message) {
            Converting selection = selections.get(number);
            RecordView record = message.record();
            Message leaving = selection != null
                    ? selection.of(message)
                    : shared.wrapLike(message, input, record.memory(), record.start(), record.length());
            InetSocketAddress to = branches.get(number).to;
            if (to != null) {
                leaving.setDestination(to);
            }
            return leaving;
        }
    }

    @Override
    public Bound bind(Format input) {
        return new Splitting(input);
    }

    /** Changes no field unless a branch selects some; is not moved itself. */
    @Override
    public Effect effect() {
        boolean whole = branches.stream().allMatch(branch -> branch.select == null);
        boolean always = branches.stream().allMatch(branch -> branch.when == null);
        return new Effect(false, null, whole ? Set.of() : null, whole && always ? branches.size() : Double.NaN);
    }
}
