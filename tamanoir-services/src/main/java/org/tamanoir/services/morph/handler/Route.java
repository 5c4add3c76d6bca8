package org.tamanoir.services.morph.handler;

import java.util.Set;
import org.tamanoir.format.Format;
import org.tamanoir.message.Bound;
import org.tamanoir.message.Effect;
import org.tamanoir.message.Message;
import org.tamanoir.message.MessageHandler;
import org.tamanoir.message.Outcome;
import org.tamanoir.message.Outlet;
import org.tamanoir.services.morph.expression.Expression;
import org.tamanoir.services.morph.expression.ResultType;

/** Sends each message to the port that an expression numbers, and drops those for which there is none. */
final class Route implements MessageHandler {
    static final String REASON = "no such port";
    private static final int PORTS = 64;

    private final Condition port;
    private final int ports;

    Route(HandlerSettings settings) {
        port = Condition.of(settings, "port");
        ports = (int) settings.number("ports", PORTS, 1, PORTS);
    }

    private record Routing(Format format, Expression expression, int ports) implements Bound {
        @Override
        public Format output(int port) {
            return format;
        }

        @Override
        public Outcome handle(Message message, Outlet outlet) {
            long port = expression.getLong(message.record());
            if (port < 0 || port >= ports) {
                return outlet.drop(REASON);
            }
            outlet.to(1L << port);
            return Outcome.FORWARD;
        }
    }

    @Override
    public int ports() {
        return ports;
    }

    @Override
    public Bound bind(Format input) {
        return new Routing(input, port.compile(input, ResultType.INT), ports);
    }

    @Override
    public Effect effect() {
        return new Effect(true, port.reads(), Set.of(), 1);
    }
}
