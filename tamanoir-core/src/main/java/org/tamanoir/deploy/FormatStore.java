package org.tamanoir.deploy;

import com.google.common.cache.Cache;
import com.google.common.cache.CacheBuilder;
import java.net.InetSocketAddress;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import java.util.function.Supplier;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.format.Format;
import org.tamanoir.format.FormatException;
import org.tamanoir.format.FormatId;
import org.tamanoir.format.FormatLimits;
import org.tamanoir.format.FormatRegistry;
import org.tamanoir.format.FormatSource;

/**
 * The formats of a node: those that it was given, and a bounded cache of those that it asked for, at the previous node,
 * at format servers and at repositories, in this order. Each search ends in a bounded time, and a source that fails is
 * left alone for a while.
 *
 * <p>One search for an identifier whoever waits for it; {@value #MAX_SEARCHES_PER_PARTY} at a time for records that come
 * by one previous node, {@value #SEARCHES_PER_SECOND} a second in all; what nobody has is refused for {@value
 * #REPEAT_MS} ms without asking. Identifiers that a server issued are not asked for: nothing says that an answer is the
 * right one.
 *
 * <p>Thread contract: any thread. Answers come on the threads of the store, or on the caller's.
 */
public final class FormatStore implements FormatSource, AutoCloseable {
    /**
     * Settings.
     *
     * @param servers base addresses of format servers that speak FFS's protocol, in the order in which they are asked
     * @param repositories base addresses of repositories, asked behind these
     * @param previousNodes which code servers may be asked as previous nodes
     * @param tlsPreviousNodes whether these are asked by https
     * @param onDemand whether anybody is asked
     * @param signed whether only what a trusted publisher has signed is taken from others, so from repositories alone
     * @param maxFormats kept
     * @param maxBytes of the descriptions that are kept
     * @param connectTimeout to reach a source
     * @param idleTimeout how long a source may send nothing
     * @param totalTimeout for all sources together
     * @param backOffMin for so long a source that failed is left alone, which doubles
     * @param backOffMax at most
     * @param tls for https; null = the JDK's own
     */
    public record Settings(
            List<URI> servers,
            List<URI> repositories,
            Predicate<InetSocketAddress> previousNodes,
            boolean tlsPreviousNodes,
            boolean onDemand,
            boolean signed,
            int maxFormats,
            long maxBytes,
            Duration connectTimeout,
            Duration idleTimeout,
            Duration totalTimeout,
            Duration backOffMin,
            Duration backOffMax,
            @Nullable SSLContext tls) {}

    /** Records come with them faster than anyone can look. */
    private static final int REPEAT_MS = 1_000;
    /** Identifiers that nobody had: records can name any number of them. */
    private static final int MAX_REFUSALS = 4_096;

    static final int MAX_SEARCHES_PER_PARTY = 16;
    private static final int MAX_SEARCHES = 1_024;
    /** Who waits for one format. */
    private static final int MAX_WAITING = 4_096;

    static final int SEARCHES_PER_SECOND = 100;
    private static final int THREADS = 16;
    private static final int IDLE_SECONDS = 5;
    /** Previous nodes that are left alone. */
    private static final int MAX_FAILURES = 1_024;
    /** Previous nodes asked for one format. */
    private static final int MAX_PREVIOUS_NODES = 4;

    private static final Logger LOG = LoggerFactory.getLogger(FormatStore.class);
    private static final String NO_PREVIOUS_NODE = "";

    private final Settings settings;
    private final Supplier<TrustPolicy> trust;
    private final List<CodeSource> configured = new ArrayList<>();
    private final FormatRegistry known;
    /** Those that the operator gave, which stay. */
    private final Map<FormatId, Format> given;

    private final CodeClient client;
    private final ThreadPoolExecutor threads;
    private final LongSupplier clockNs = System::nanoTime;
    private final BackOff<CodeSource, String> failures;
    private final Cache<FormatId, Refused> refusals =
            CacheBuilder.newBuilder().maximumSize(MAX_REFUSALS).build();
    private final Map<FormatId, Search> searches = new HashMap<>();
    private final Map<Object, Integer> parties = new HashMap<>();
    private final Map<String, Long> outcomes = new TreeMap<>();
    /** Searches that may begin now. */
    private double permits = SEARCHES_PER_SECOND;

    private long permitsNs = clockNs.getAsLong();

    /** @param asked whom it was asked of */
    private record Refused(long atNs, Set<CodeSource> asked) {}

    /** One identifier that is asked for. The lock of the store guards its sets. */
    private static final class Search {
        final FormatId id;
        final Object party;
        final long sinceNs;
        final Set<CodeSource> previousNodes = new LinkedHashSet<>();
        final Set<CodeSource> asked = new LinkedHashSet<>();
        final List<Consumer<@Nullable Format>> waiting = new ArrayList<>();
        final List<String> answers = new ArrayList<>();
        String outcome = "unknown";

        Search(FormatId id, Object party, long sinceNs) {
            this.id = id;
            this.party = party;
            this.sinceNs = sinceNs;
        }
    }

    /**
     * Makes a store.
     *
     * @param given formats that stay whatever comes
     * @param trust who may sign, asked anew for each format
     * @throws IllegalArgumentException in one line, for a server that is no http or https address
     */
    public FormatStore(Settings settings, List<Format> given, Supplier<TrustPolicy> trust) {
        this.settings = settings;
        this.trust = trust;
        if (!settings.signed()) { // FFS's protocol has no place for a signature.
            settings.servers().forEach(each -> configured.add(CodeSource.of(CodeSource.FORMAT_SERVER, each)));
        }
        settings.repositories().forEach(each -> configured.add(CodeSource.of(CodeSource.REPOSITORY, each)));
        known = new FormatRegistry(settings.maxFormats(), settings.maxBytes());
        Map<FormatId, Format> all = new HashMap<>();
        given.forEach(format -> all.put(format.id(), format));
        this.given = Map.copyOf(all);
        given.forEach(known::add);
        client = new CodeClient("format-call", settings.connectTimeout(), settings.idleTimeout(), settings.tls());
        failures = new BackOff<>(
                settings.backOffMin().toNanos(),
                settings.backOffMax().toNanos(),
                configured.size() + MAX_FAILURES,
                clockNs);
        AtomicInteger number = new AtomicInteger();
        threads = new ThreadPoolExecutor(
                THREADS, THREADS, IDLE_SECONDS, TimeUnit.SECONDS, new LinkedBlockingQueue<>(MAX_SEARCHES), task -> {
                    Thread thread = new Thread(task, "format-" + number.incrementAndGet());
                    thread.setDaemon(true);
                    return thread;
                });
        threads.allowCoreThreadTimeOut(true);
    }

    @Override
    public FormatRegistry known() {
        return known;
    }

    @Override
    public boolean takesDescriptions() {
        return !settings.signed(); // What a packet says has no signature.
    }

    /** Returns a format that is here; null if it would have to be asked for. */
    public @Nullable Format find(FormatId id) {
        Format format = known.find(id);
        if (format == null) {
            Format own = given.get(id);
            format = own == null ? null : known.add(own);
        }
        return format;
    }

    @Override
    public void request(FormatId id, @Nullable InetSocketAddress previousNode, Consumer<@Nullable Format> then) {
        Format format = find(id);
        if (format == null && settings.onDemand() && id.isComputed() && await(id, previousNode, then)) {
            return;
        }
        then.accept(format);
    }

    /** Begins a search or joins one; false if there will be none. */
    private boolean await(FormatId id, @Nullable InetSocketAddress previousNode, Consumer<@Nullable Format> then) {
        List<CodeSource> previous = sources(previousNode);
        Object party = previous.isEmpty() ? NO_PREVIOUS_NODE : previous.get(0);
        Search search;
        synchronized (this) {
            search = searches.get(id);
            if (search != null) {
                if (search.waiting.size() >= MAX_WAITING) {
                    return refuse("busy");
                }
                search.waiting.add(then);
                add(search, previous);
                return true;
            }
            if (configured.isEmpty() && previous.isEmpty()) {
                return refuse("unknown");
            }
            Refused refusal = refusals.getIfPresent(id);
            if (refusal != null
                    && clockNs.getAsLong() - refusal.atNs < TimeUnit.MILLISECONDS.toNanos(REPEAT_MS)
                    && refusal.asked.containsAll(previous)) {
                return refuse("repeated");
            }
            if (searches.size() >= MAX_SEARCHES
                    || parties.getOrDefault(party, 0) >= MAX_SEARCHES_PER_PARTY
                    || !takePermit()) {
                return refuse("busy");
            }
            search = new Search(id, party, clockNs.getAsLong());
            search.waiting.add(then);
            add(search, previous);
            searches.put(id, search);
            parties.merge(party, 1, Integer::sum);
        }
        Search begun = search;
        try {
            threads.execute(() -> run(begun));
        } catch (RejectedExecutionException | OutOfMemoryError e) { // The node ends, or has no thread.
            end(begun, null);
        }
        return true;
    }

    private boolean takePermit() {
        long nowNs = clockNs.getAsLong();
        permits = Math.min(SEARCHES_PER_SECOND, permits + (nowNs - permitsNs) * 1e-9 * SEARCHES_PER_SECOND);
        permitsNs = nowNs;
        if (permits < 1) {
            return false;
        }
        permits--;
        return true;
    }

    private boolean refuse(String outcome) {
        count(outcome);
        return false;
    }

    private synchronized void count(String outcome) {
        outcomes.merge(outcome, 1L, Long::sum);
    }

    private static void add(Search search, List<CodeSource> previous) {
        for (CodeSource each : previous) {
            if (search.previousNodes.size() < MAX_PREVIOUS_NODES) {
                search.previousNodes.add(each);
            }
        }
    }

    /** Returns the previous node if it may be asked. */
    private List<CodeSource> sources(@Nullable InetSocketAddress named) {
        return named == null || settings.signed() || !settings.previousNodes().test(named)
                ? List.of()
                : List.of(CodeSource.of(CodeSource.PREVIOUS_NODE, address(named)));
    }

    private URI address(InetSocketAddress server) {
        String host = server.getAddress().getHostAddress();
        int zone = host.indexOf('%');
        String plain = zone < 0 ? host : host.substring(0, zone);
        return URI.create((settings.tlsPreviousNodes() ? "https://" : "http://")
                + (plain.indexOf(':') < 0 ? plain : "[" + plain + "]") + ":" + server.getPort());
    }

    private void run(Search search) {
        Format format = null;
        try {
            long endNs = search.sinceNs + settings.totalTimeout().toNanos();
            for (CodeSource source = next(search); source != null; source = next(search)) {
                long nowNs = clockNs.getAsLong();
                long shareNs = (endNs - nowNs) / (1 + left(search));
                format = shareNs <= 0 ? null : ask(search, source, nowNs + shareNs);
                if (format != null) {
                    break;
                }
            }
        } catch (RuntimeException | Error e) {
            LOG.error(
                    "format {}: a fault of the node: {}",
                    search.id,
                    e.getClass().getName(),
                    e);
            search.outcome = "unavailable";
        } finally {
            end(search, format);
        }
    }

    /** Returns whom to ask next; null when nobody is left, and the search ended. */
    private synchronized @Nullable CodeSource next(Search search) {
        for (CodeSource each : search.previousNodes) {
            if (search.asked.add(each)) {
                return each;
            }
        }
        for (CodeSource each : configured) {
            if (search.asked.add(each)) {
                return each;
            }
        }
        searches.remove(search.id, search); // Who comes now with another previous node begins anew.
        return null;
    }

    private synchronized int left(Search search) {
        return Math.max(0, search.previousNodes.size() + configured.size() - search.asked.size());
    }

    private @Nullable Format ask(Search search, CodeSource source, long deadlineNs) {
        BackOff.Pause<String> pause = failures.pause(source);
        if (pause != null) {
            return failed(search, "unavailable", source + " " + pause.why());
        }
        long startNs = clockNs.getAsLong();
        try {
            Format format = fetch(source, search.id, deadlineNs);
            failures.succeeded(source);
            if (format == null) {
                search.answers.add(source + " does not have it");
                return null;
            }
            search.outcome = source.kind().replace(' ', '-');
            return known.add(format);
        } catch (CodeRefusedException | FormatException | IllegalArgumentException e) {
            return failed(search, "refused", source + ": " + OneLine.of(String.valueOf(e.getMessage())));
        } catch (SourceException e) {
            if (e.wasAsked) {
                failures.failed(source, String.valueOf(e.getMessage()), startNs);
            }
            return failed(search, "unavailable", source + " " + e.getMessage());
        } catch (LocalException e) {
            throw new IllegalStateException("nothing is kept on a disk", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return failed(search, "unavailable", "this node ends");
        }
    }

    /** A wrong answer says more than none. */
    private static @Nullable Format failed(Search search, String outcome, String answer) {
        if (!search.outcome.equals("refused")) {
            search.outcome = outcome;
        }
        search.answers.add(answer);
        return null;
    }

    private @Nullable Format fetch(CodeSource source, FormatId id, long deadlineNs)
            throws SourceException, CodeRefusedException, LocalException, InterruptedException {
        if (!source.kind().equals(CodeSource.REPOSITORY)) {
            byte[] body = client.file(source, FormatFile.question(id), FormatFile.MAX_JSON_BYTES, deadlineNs);
            return body == null ? null : Format.of(id, FormatFile.ofJson(body));
        }
        byte[] description = client.file(source, FormatFile.path(id), FormatLimits.DESCRIPTION_BYTES, deadlineNs);
        if (description == null) {
            return null;
        }
        Format format = Format.of(id, description);
        if (settings.signed()) {
            trust.get()
                    .verify(format, client.file(source, FormatFile.path(id) + ".sig", Signature.MAX_BYTES, deadlineNs));
        }
        return format;
    }

    private void end(Search search, @Nullable Format format) {
        List<Consumer<@Nullable Format>> waiting;
        synchronized (this) {
            searches.remove(search.id, search);
            parties.computeIfPresent(search.party, (party, count) -> count > 1 ? count - 1 : null);
            if (format == null) {
                refusals.put(search.id, new Refused(clockNs.getAsLong(), Set.copyOf(search.asked)));
            } else {
                refusals.invalidate(search.id);
            }
            count(search.outcome);
            waiting = List.copyOf(search.waiting);
        }
        if (format == null) {
            LOG.info("format {} is not to be had: {}", search.id, String.join("; ", search.answers));
        } else {
            LOG.info("format {} ({}) from {}", search.id, OneLine.quoted(format.name()), search.outcome);
        }
        for (Consumer<@Nullable Format> then : waiting) {
            try {
                then.accept(format);
            } catch (RuntimeException | Error e) {
                LOG.error("who waits for a format could not be told: {}", e, e);
            }
        }
    }

    /**
     * Keeps a format that somebody brought.
     *
     * @throws FormatException if it is too large to be kept
     * @throws IllegalStateException if formats of this node have to be signed
     */
    public Format add(Format format) {
        if (settings.signed()) {
            throw new IllegalStateException("formats of this node have to be signed: publish it to its repository");
        }
        return known.add(format);
    }

    /** Returns what it has, and what became of requests. */
    public synchronized FormatStatistics statistics() {
        return new FormatStatistics(
                known.size(), known.bytes(), known.evicted(), Map.copyOf(outcomes), searches.size());
    }

    /** Ends the searches that run; they are answered. */
    @Override
    public void close() {
        client.close();
        threads.shutdownNow().forEach(Runnable::run);
    }
}
