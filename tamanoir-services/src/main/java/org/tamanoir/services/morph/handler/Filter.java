package org.tamanoir.services.morph.handler;

import org.tamanoir.format.Format;
import org.tamanoir.message.Bound;
import org.tamanoir.message.Effect;
import org.tamanoir.message.Message;
import org.tamanoir.message.MessageHandler;
import org.tamanoir.message.Outcome;
import org.tamanoir.message.Outlet;
import org.tamanoir.services.morph.expression.Expression;
import org.tamanoir.services.morph.expression.ResultType;

/** Lets the messages pass for which an expression is true, and drops the others. */
final class Filter implements MessageHandler {
    static final String REASON = "filtered";

    private final Condition when;

    Filter(HandlerSettings settings) {
        when = Condition.of(settings, "when");
    }

    private record Testing(Format format, Expression expression) implements Bound {
        @Override
        public Format output(int port) {
            return format;
        }

        @Override
        public Outcome handle(Message message, Outlet outlet) {
            return expression.test(message.record()) ? Outcome.FORWARD : outlet.drop(REASON);
        }
    }

    @Override
    public Bound bind(Format input) {
        return new Testing(input, when.compile(input, ResultType.BOOL));
    }

    @Override
    public Effect effect() {
        return new Effect(true, when.reads(), java.util.Set.of(), Double.NaN);
    }
}
