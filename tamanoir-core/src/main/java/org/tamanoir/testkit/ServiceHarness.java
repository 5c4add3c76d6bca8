package org.tamanoir.testkit;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.Anep;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketSpace;
import org.tamanoir.anep.ParseFault;
import org.tamanoir.format.FormatRegistry;
import org.tamanoir.format.FormatSource;
import org.tamanoir.service.Allotment;
import org.tamanoir.service.DeclaredSettings;
import org.tamanoir.service.Service;
import org.tamanoir.service.ServiceConfig;
import org.tamanoir.service.ServiceControl;
import org.tamanoir.service.StreamInfo;
import org.tamanoir.service.StreamInfo.Transport;
import org.tamanoir.service.Verdict;

/**
 * Runs one instance of a service over packets that a test gives it, on a thread of its own as a node does, without
 * sockets and without a clock.
 *
 * <pre>{@code
 * @Test
 * void makesLettersLarge() {
 *     try (ServiceHarness harness = ServiceHarness.start(new Shout(), Transport.TCP, Map.of("greeting", "hi"))) {
 *         harness.sendText("hello").advance(Duration.ofSeconds(10)).endOfStream();
 *
 *         assertEquals("HELLO", harness.outputs().get(0).text());
 *         assertEquals(List.of(), harness.drops());
 *         assertEquals(1, harness.count("packets"));
 *     }
 * }
 * }</pre>
 *
 * <p>Each call returns when the service has done its part, and what it did can then be read, also after {@link
 * #close}. A service that does not return within the {@linkplain #start(Service, Transport, Map, Duration)
 * patience}, 10 s unless told otherwise, fails the call with the place where it is.
 *
 * <p>It is harder on a service than a node, so that mistakes show here:
 *
 * <ul>
 *   <li>A packet's bytes are overwritten when {@code process} has returned; the {@code Packet} has then no options any
 *       more.
 *   <li>A packet that leaves must still be one: lengths, options and checksum are checked.
 *   <li>{@code emit}, {@code drop}, {@code forwardTo}, {@code after}, {@code every} and {@code counter} throw on any
 *       other thread than the service's.
 * </ul>
 *
 * <p>An exception is recorded in {@link #failures}; the packet has then no output. {@link #close} throws if there
 * were some and the test has not asked for them. What a node decides, routes, failure policy and limits, is not here.
 *
 * <p>Thread contract: one thread, the test's.
 */
public final class ServiceHarness implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofSeconds(10);
    private static final InetSocketAddress LOCAL =
            new InetSocketAddress(TextPackets.address(127, 0, 0, 1), Anep.DEFAULT_PORT);
    private static final InetSocketAddress PEER = new InetSocketAddress(TextPackets.address(127, 0, 0, 1), 50_000);
    /** As many as a node knows. */
    private static final int MAX_FORMATS = 1024;

    private static final long MAX_FORMAT_BYTES = 16 << 20;
    /** Packets of a list that one call of the service's thread takes. */
    private static final int BATCH_PACKETS = 64;

    private final Service service;
    private final HarnessHost host;
    private final Duration patience;
    private final TextPackets textPackets;
    private final HarnessLevels levels;
    private @Nullable ServiceControl control;
    private boolean streamEnded;
    private boolean closed;
    private boolean failuresSeen;
    private @Nullable DeployedClasses classes;
    private @Nullable AssertionError stuck;

    private ServiceHarness(
            Service service, Transport transport, Duration patience, boolean hasLevels, FormatSource formats) {
        this.service = service;
        this.patience = patience;
        this.host =
                new HarnessHost(new StreamInfo(transport, transport == Transport.TCP ? PEER : null, LOCAL), formats);
        this.textPackets = new TextPackets(service.getClass().getName());
        this.levels = host.levels(new HarnessLevels(this, service, hasLevels));
    }

    // ---- begin --------------------------------------------------------------------------------------------------

    /** Starts a service without settings, with a patience of 10 s. */
    public static ServiceHarness start(Service service, Transport transport) {
        return start(service, transport, Map.of());
    }

    /** Starts a service with a patience of 10 s. */
    public static ServiceHarness start(Service service, Transport transport, Map<String, String> config) {
        return start(service, transport, config, PATIENCE);
    }

    /**
     * Starts a service's thread and initialises the service.
     *
     * @param service a fresh instance
     * @param transport what {@code stream()} tells it
     * @param config its settings
     * @param patience how long one call may take
     * @throws AssertionError if {@code init}, its own or that of its control, throws, which is the cause, or does not return
     */
    public static ServiceHarness start(
            Service service, Transport transport, Map<String, String> config, Duration patience) {
        return start(new ServiceHarness(service, transport, patience, false, noFormats()), config);
    }

    /** Starts a service with a patience of 10 s that gets formats of records from this source. */
    public static ServiceHarness start(
            Service service, Transport transport, Map<String, String> config, FormatSource formats) {
        return start(new ServiceHarness(service, transport, PATIENCE, false, formats), config);
    }

    private static FormatSource noFormats() {
        return FormatSource.of(new FormatRegistry(MAX_FORMATS, MAX_FORMAT_BYTES));
    }

    /** Starts a service with a patience of 10 s, as on a node that has {@linkplain #levels levels below} the JVM. */
    public static ServiceHarness startWithLevels(Service service, Transport transport, Map<String, String> config) {
        return start(new ServiceHarness(service, transport, PATIENCE, true, noFormats()), config);
    }

    private static ServiceHarness start(ServiceHarness harness, Map<String, String> config) {
        Service service = harness.service;
        harness.control = HarnessControl.of(service.getClass(), new ServiceConfig(config), harness.host);
        service.attach(harness.host);
        service.setName("service " + service.getClass().getSimpleName());
        service.setDaemon(true);
        service.start();
        harness.call("init", () -> {
            ServiceConfig settings = new ServiceConfig(config);
            DeclaredSettings.of(service.getClass()).require(settings);
            service.init(settings);
        });
        if (!harness.host.failures.isEmpty()) {
            Throwable failure = harness.failures().get(0);
            harness.close();
            throw new AssertionError(harness.name() + " failed in init: " + failure, failure);
        }
        return harness;
    }

    /**
     * Starts a service with a patience of 10 s from classes that are loaded anew and see what a node shows to
     * deployed code: the JDK, {@code org.tamanoir.service}, {@code anep}, {@code nodeos}, {@code format}, {@code message}, and the folder or jar that the
     * service lies in. What else it uses fails here as it would on a node. Libraries that are only put into the jar
     * when that is built are missing too: run such a test on the jar.
     *
     * @throws AssertionError besides, if no instance can be made
     */
    public static ServiceHarness startAsDeployed(
            Class<? extends Service> type, Transport transport, Map<String, String> config) {
        DeployedClasses classes = DeployedClasses.of(type);
        try {
            ServiceHarness harness = start(classes.newService(type.getName()), transport, config);
            harness.classes = classes;
            return harness;
        } catch (AssertionError e) {
            classes.close();
            throw e;
        }
    }

    /**
     * Runs a service over packets to the end of its stream, and closes it.
     *
     * @throws AssertionError if it threw, or does not return
     */
    public static ServiceHarness run(
            Service service, Transport transport, Map<String, String> config, List<Packet> packets) {
        try (ServiceHarness harness = start(service, transport, config)) {
            return harness.send(packets).endOfStream();
        }
    }

    // ---- what happens to the service ----------------------------------------------------------------------------

    /** Gives the service a copy of a packet. */
    public ServiceHarness send(Packet packet) {
        return process(List.of(bytes(packet)));
    }

    /** Gives the service copies of packets, which costs less than one by one. */
    public ServiceHarness send(List<Packet> packets) {
        for (int from = 0; from < packets.size(); from += BATCH_PACKETS) {
            int to = Math.min(packets.size(), from + BATCH_PACKETS);
            process(packets.subList(from, to).stream()
                    .map(ServiceHarness::bytes)
                    .toList());
        }
        return this;
    }

    private static byte[] bytes(Packet packet) {
        packet.seal();
        byte[] bytes = new byte[packet.length()];
        packet.copyTo(ByteBuffer.wrap(bytes), 0);
        return bytes;
    }

    /**
     * Gives the service a whole packet as it comes from the wire.
     *
     * @throws IllegalArgumentException if a node would drop it before any service sees it
     */
    public ServiceHarness send(byte[] packet) {
        byte[] bytes = packet.clone();
        ParseFault fault =
                new Packet(Anep.DEFAULT_TYPE_ID, PacketSpace.HEAP).parse(ByteBuffer.wrap(bytes), 0, bytes.length);
        if (fault != null) {
            throw new IllegalArgumentException("a packet of " + bytes.length + " bytes that a node drops: " + fault
                    + "; build it with PacketBuilder");
        }
        return process(List.of(bytes));
    }

    /**
     * Gives the service a packet with this payload in UTF-8, as {@code tamanoir send} makes them: from 10.0.1.2 to
     * 10.0.2.7, with the service's key, class 0, stream 1 and a sequence number that counts up from 0, 16 hops and a
     * checksum.
     */
    public ServiceHarness sendText(String payload) {
        return send(textPackets.next(payload));
    }

    private ServiceHarness process(List<byte[]> packets) {
        requireOpen("send packets");
        call("process", () -> packets.forEach(packet -> host.process(service, packet)));
        return this;
    }

    /** Lets time pass: runs the timers that are due until then, in their order. */
    public ServiceHarness advance(Duration time) {
        if (time.isNegative()) {
            throw new IllegalArgumentException("time " + time + ": must not be negative");
        }
        requireOpen("advance the time");
        call("a timer", () -> host.advance(time));
        return this;
    }

    /** Has the service see this {@link Service#allotment} from now on; before, looking fails. */
    public ServiceHarness allotment(Allotment seen) {
        host.allotment(seen);
        return this;
    }

    /** Runs something on the service's thread. */
    public ServiceHarness onServiceThread(Runnable task) {
        requireOpen("run a task");
        call("a task of the test", task::run);
        return this;
    }

    /** The sender has ended its TCP stream, or the node shuts UDP down; only {@link #close} can follow. */
    public ServiceHarness endOfStream() {
        requireOpen("end the stream");
        streamEnded = true;
        call("endOfStream", service::endOfStream);
        return this;
    }

    /**
     * Closes the service and ends its thread; without {@link #endOfStream} before it is as if the connection broke.
     * Has no effect the second time.
     *
     * @throws AssertionError if the service threw and {@link #failures} was not asked for, or does not return
     */
    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        if (stuck != null) {
            return; // The call that found it has thrown.
        }
        call("close", () -> host.close(service));
        join();
        if (control != null) {
            control.close();
        }
        if (classes != null) {
            classes.close();
        }
        if (!failuresSeen && !host.failures.isEmpty()) {
            List<Throwable> failures = failures();
            AssertionError error = new AssertionError(
                    name() + " threw " + failures.size() + " times, first: " + failures.get(0), failures.get(0));
            failures.stream().skip(1).limit(10).forEach(error::addSuppressed);
            throw error;
        }
    }

    private void requireOpen(String what) {
        if (closed || streamEnded) {
            throw new IllegalStateException(
                    "cannot " + what + " after " + (closed ? "close" : "endOfStream") + ": start another instance");
        }
    }

    /** The levels below the JVM, which are there after {@link #startWithLevels} alone. */
    public HarnessLevels levels() {
        return levels;
    }

    /** The formats that the service knows; without a source given, there is nobody to ask for others. */
    public FormatSource formats() {
        return host.formats();
    }

    /**
     * The service's control, which was made before it.
     *
     * @throws IllegalStateException if its class names none
     */
    public ServiceControl control() {
        if (control == null) {
            throw new IllegalStateException(name() + " has no control: name its class in @ControlledBy");
        }
        return control;
    }

    // ---- what the service did -----------------------------------------------------------------------------------

    /** What left, in its order: packets that went on or back, and those of the service's own. */
    public List<Output> outputs() {
        return List.copyOf(host.outputs);
    }

    /** The packets of {@link #outputs}. */
    public List<Packet> packets() {
        return outputs().stream().map(Output::packet).toList();
    }

    /** The packets among {@link #outputs} that the service sent with {@code emit}. */
    public List<Packet> emitted() {
        return outputs().stream().filter(Output::emitted).map(Output::packet).toList();
    }

    /** The payloads of {@link #outputs}, one behind the other. */
    public byte[] payloads() {
        List<Packet> packets = packets();
        ByteBuffer all = ByteBuffer.allocate(
                packets.stream().mapToInt(Packet::payloadLength).sum());
        packets.forEach(packet -> all.put(packet.payload()));
        return all.array();
    }

    /** The reasons of the packets that were dropped, in their order. */
    public List<String> drops() {
        return List.copyOf(host.drops);
    }

    /**
     * The verdicts by which the service ended its stream, {@link Verdict#CLOSE} and {@link Verdict#RESET}. Their packets
     * are among {@link #drops}. A node gives a TCP stream's service none behind the first; the harness goes on.
     */
    public List<Verdict> endings() {
        return List.copyOf(host.endings);
    }

    /** How many packets the service took in. */
    public long consumed() {
        return host.consumed.get();
    }

    /** What the service threw, in its order; {@link #close} then no longer throws because of it. */
    public List<Throwable> failures() {
        failuresSeen = true;
        return List.copyOf(host.failures);
    }

    /** The service's counters by name. */
    public Map<String, Long> counters() {
        return host.counters();
    }

    /**
     * The value of one counter.
     *
     * @throws AssertionError if the service has none of this name
     */
    public long count(String counter) {
        Map<String, Long> counters = counters();
        Long value = counters.get(counter);
        if (value == null) {
            throw new AssertionError(name() + " has no counter " + counter + "; it has " + counters.keySet());
        }
        return value;
    }

    // ---- calls to the service's thread --------------------------------------------------------------------------

    private void call(String step, HarnessHost.Action action) {
        if (stuck != null) {
            throw stuck;
        }
        HarnessHost.Call call = new HarnessHost.Call(step, action);
        if (!service.isAlive() || !host.offer(call)) {
            throw new IllegalStateException(name() + " has ended: its harness waited for this test for too long");
        }
        try {
            if (!call.done().await(patience.toNanos(), TimeUnit.NANOSECONDS)) {
                throw giveUp(step);
            }
        } catch (InterruptedException e) {
            throw interrupted(e);
        }
    }

    private void join() {
        try {
            service.join(Math.max(1, patience.toMillis()));
        } catch (InterruptedException e) {
            throw interrupted(e);
        }
        if (service.isAlive()) {
            throw giveUp("close");
        }
    }

    /** Java cannot stop a thread: it is a daemon, and an interrupt may end what it waits for. */
    private AssertionError giveUp(String step) {
        StackTraceElement[] stack = service.getStackTrace();
        Throwable place = new Throwable("where thread " + service.getName() + " is");
        place.setStackTrace(stack);
        AssertionError error = new AssertionError(
                name() + " did not return from " + step
                        + (step.equals("process") ? ", packet " + host.given() : "") + " within "
                        + patience.toMillis() + " ms"
                        + (stack.length == 0 ? "" : "; it is at " + stack[0]),
                place);
        stuck = error;
        host.end();
        service.interrupt();
        return error;
    }

    private static AssertionError interrupted(InterruptedException e) {
        Thread.currentThread().interrupt();
        return new AssertionError("the test was interrupted while it waited for the service", e);
    }

    private String name() {
        return service.getClass().getName();
    }
}
