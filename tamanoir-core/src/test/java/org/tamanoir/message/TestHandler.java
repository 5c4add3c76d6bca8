package org.tamanoir.message;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.tamanoir.format.Format;
import org.tamanoir.format.RecordTree;
import org.tamanoir.format.Target;

/** A service whose handler is a lambda of the test, and which remembers what it saw. */
final class TestHandler extends MessageService {
    private final Method method;
    final List<byte[]> seen = new ArrayList<>();
    List<Target> inputs = List.of();
    int bound;

    TestHandler(Method method) {
        this.method = method;
    }

    /** Passes all messages. */
    TestHandler() {
        this((message, outlet) -> Outcome.FORWARD);
    }

    @Override
    public List<Target> inputs() {
        return inputs;
    }

    @Override
    public Bound bind(Format input) {
        bound++;
        return super.bind(input);
    }

    @Override
    protected Outcome handle(Message message, Outlet outlet) throws Exception {
        byte[] record = new byte[message.record().length()];
        message.record().memory().get(message.record().start(), record);
        seen.add(record);
        return method.handle(message, outlet);
    }

    MessageCounts counts() {
        return messageCounts();
    }

    static @Nullable Object value(Message message, String field) {
        return RecordTree.read(message.record()).get(field);
    }

    static boolean is(Message message, String field, long value) {
        return Long.valueOf(value).equals(value(message, field));
    }
}
