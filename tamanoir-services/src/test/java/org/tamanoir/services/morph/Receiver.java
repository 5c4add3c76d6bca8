package org.tamanoir.services.morph;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.tamanoir.message.Message;
import org.tamanoir.message.Outcome;
import org.tamanoir.message.Outlet;

/** The service's side of an engine: gives it messages, and notes what leaves and how each ends. */
final class Receiver implements Outlet {
    /** Numbers of flights in the order in which they left; "7!" where it left in the packet that it came in. */
    final List<String> left = new ArrayList<>();

    final Map<String, Long> dropped = new TreeMap<>();
    long nowNs;
    long in;
    long made;
    long out;
    long merged;
    long held;
    private @Nullable Message replacement;
    private @Nullable String reason;

    /** Gives the engine a message, as MessageService does. */
    void give(Engine engine, Message message) {
        in++;
        replacement = null;
        reason = null;
        Outcome outcome = engine.handle(message, this);
        switch (outcome) {
            case FORWARD -> {
                out++;
                left.add(text(replacement == null ? message : replacement) + "!");
            }
            case DROP -> dropped.merge(String.valueOf(reason), 1L, Long::sum);
            case HOLD -> held++;
            case MERGE -> merged++;
        }
    }

    private static String text(Message message) {
        return Flights.id(message)
                + (message.format() == Flights.FLIGHT ? "" : message.format().name())
                + (message.destination() == null
                        ? ""
                        : "@" + message.destination().getPort());
    }

    /** What in + made exceeds the rest by: 0. */
    long unaccounted() {
        return in
                + made
                - out
                - merged
                - held
                - dropped.values().stream().mapToLong(n -> n).sum();
    }

    @Override
    public long nowNs() {
        return nowNs;
    }

    @Override
    public void to(long ports) {
        throw new IllegalStateException("a chain has one way out");
    }

    @Override
    public void replace(Message record) {
        replacement = record;
    }

    @Override
    public Outcome drop(String why) {
        reason = why;
        return Outcome.DROP;
    }

    @Override
    public void emit(int port, Message message) {
        made++;
        out++;
        left.add(text(message));
    }

    @Override
    public void release(long messages, @Nullable String droppedFor) {
        held -= messages;
        if (held < 0) {
            throw new IllegalStateException("more messages end than are held");
        }
        if (droppedFor == null) {
            merged += messages;
        } else {
            dropped.merge(droppedFor, messages, Long::sum);
        }
    }
}
