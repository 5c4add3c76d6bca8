package org.tamanoir.message;

import java.net.InetSocketAddress;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.Packet;
import org.tamanoir.format.Format;
import org.tamanoir.format.FormatSource;
import org.tamanoir.service.Allowance;
import org.tamanoir.service.Counter;
import org.tamanoir.service.Service;
import org.tamanoir.service.ServiceConfig;
import org.tamanoir.service.Settings;
import org.tamanoir.service.StreamInfo;
import org.tamanoir.service.Verdict;

/**
 * A service whose packets carry records: it sees messages, of however many packets, and no packets. Users extend it and
 * write {@link #handle}, where one does for all formats, or {@link #bind}.
 *
 * <pre>{@code
 * public final class Late extends MessageService {
 *     public Bound bind(Format input) {
 *         Accessor delay = input.accessor("delay"); // Once for a format; refuses those without such a field.
 *         return new SameFormat(input, (message, outlet) ->
 *                 delay.getLong(message.record()) > 15 ? Outcome.FORWARD : outlet.drop("in time"));
 *     }
 * }
 * }</pre>
 *
 * <p>A message that goes on unchanged leaves in the packet that it came in, byte for byte. Messages that leave, and what
 * becomes of all others, are counted: {@link #messageCounts}. What a handler throws is counted and logged as a failure of
 * the service, and the message follows the setting {@code failure}.
 *
 * <p>Settings, all optional: {@code other} (pass, drop: packets that are no messages, and formats that the handler does
 * not take), {@code strays} (drop, pass: packets with a stream's numbers and no message before them), {@code failure} (drop, pass: formats that nobody has, handlers that throw), {@code message-bytes}, {@code
 * packet-bytes}, {@code reassembly-bytes}, {@code reassembly-messages}, {@code reassembly-time}, {@code hold-bytes},
 * {@code hold-packets}, {@code hold-formats}, {@code hold-time}, {@code introduced-formats}. Times are in ms.
 *
 * <p>Thread contract: as {@link Service}.
 */
@Settings(of = MessageSettings.class)
public abstract class MessageService extends Service implements MessageHandler {
    private MessageSettings settings = MessageSettings.of(ServiceConfig.EMPTY);
    private @Nullable MessagePath path;

    /** For the node; instances are made with no arguments. */
    protected MessageService() {}

    /** A handler's method, where the format that leaves is the one that came. */
    @FunctionalInterface
    public interface Method {
        /** As {@link Bound#handle}. */
        Outcome handle(Message message, Outlet outlet) throws Exception;
    }

    /**
     * A handler of messages that leave in the format in which they came.
     *
     * @param format that it is bound to
     * @param method what it does
     */
    public record SameFormat(Format format, Method method) implements Bound {
        @Override
        public Format output(int port) {
            return format;
        }

        @Override
        public Outcome handle(Message message, Outlet outlet) throws Exception {
            return method.handle(message, outlet);
        }
    }

    // ---- what a service does ------------------------------------------------------------------------------------

    /** Reads the settings that all message services have. Who overrides it calls it, or has their defaults. */
    @Override
    public void init(ServiceConfig config) throws Exception {
        settings = MessageSettings.of(config);
    }

    /**
     * Refuses settings that do not fit, for a control, which is asked before there is an instance.
     *
     * @param others names of the service's own settings
     * @throws IllegalArgumentException which, and what is allowed
     */
    public static void requireSettings(ServiceConfig config, String... others) {
        config.allow(MessageSettings.names(others));
        MessageSettings.of(config);
    }

    /** Returns the names of the settings that all message services have, and of others: for {@link ServiceConfig#allow}. */
    protected static String[] settingNames(String... others) {
        return MessageSettings.names(others);
    }

    /** Prepares it for messages of a format: unless overridden, all are given to {@link #handle}. */
    @Override
    public Bound bind(Format input) {
        return new SameFormat(input, this::handle);
    }

    /** Handles a message of any format; as {@link Bound#handle}. */
    protected Outcome handle(Message message, Outlet outlet) throws Exception {
        throw new UnsupportedOperationException(getClass().getName() + " handles no messages: override handle or bind");
    }

    @Override
    public final Verdict process(Packet packet) {
        MessagePath messages = path();
        Verdict verdict = messages.process(packet);
        return switch (verdict) {
            case DROP -> drop(messages.dropReason());
            case FORWARD_ELSEWHERE -> {
                InetSocketAddress elsewhere = messages.elsewhere();
                yield forwardTo(elsewhere.getAddress(), elsewhere.getPort());
            }
            default -> verdict;
        };
    }

    /**
     * Lets go what is held, {@link #finish} included; over TCP waits before for formats that are asked for, no longer than
     * {@code hold-time} and 10 s. Who overrides it calls it.
     */
    @Override
    public void endOfStream() throws Exception {
        path().end();
    }

    /** Counts what is still held as dropped. Who overrides it calls it. */
    @Override
    public void close() {
        if (path != null) {
            path.close();
        }
    }

    // ---- what a service asks for --------------------------------------------------------------------------------

    /** Returns what became of messages so far. */
    protected final MessageCounts messageCounts() {
        return path().counts();
    }

    /** Returns the way out for tasks between packets, of timers and {@code execute}; valid during the task. */
    protected final Outlet outlet() {
        return path().outlet();
    }

    /** Has {@link #bind} called anew for each format, from the next message on. */
    protected final void rebind() {
        path().bindings().clear();
    }

    /** Returns the bytes of packets and messages that are held outside of the handler. */
    protected final long waitingBytes() {
        return path().heldBytes();
    }

    /** Returns the formats that records are read by, those of the node; called once. */
    protected FormatSource messageFormats() {
        return formats();
    }

    private MessagePath path() {
        MessagePath there = path;
        if (there == null) {
            there = new MessagePath(this, settings, new OwnNode());
            path = there;
        }
        return there;
    }

    /** The service's own methods, lent to its {@link MessagePath}. */
    private final class OwnNode implements MessagePath.Node {
        @Override
        public boolean send(Packet packet, @Nullable InetSocketAddress destination) {
            return destination == null ? emit(packet) : emitTo(destination.getAddress(), destination.getPort(), packet);
        }

        @Override
        public Allowance allowance() {
            return MessageService.this.allowance();
        }

        @Override
        public long nanoTime() {
            return MessageService.this.nanoTime();
        }

        @Override
        public void after(Duration delay, Runnable task) {
            MessageService.this.after(delay, task);
        }

        @Override
        public boolean execute(Runnable task) {
            return MessageService.this.execute(task);
        }

        @Override
        public FormatSource formats() {
            return messageFormats();
        }

        @Override
        public StreamInfo stream() {
            return MessageService.this.stream();
        }

        @Override
        public Counter counter(String name, Counter.Kind kind) {
            return MessageService.this.counter(name, kind);
        }
    }
}
