package org.tamanoir.services.extra.cache;

import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.AddressText;
import org.tamanoir.format.text.Decimals;
import org.tamanoir.service.ControlHost;
import org.tamanoir.service.ServiceConfig;
import org.tamanoir.service.ServiceControl;

/**
 * What {@link Cache} holds, and what it shall forget.
 *
 * <table><caption>Operations of {@link #change}</caption>
 * <tr><th>operation</th><th>arguments</th><th>does</th></tr>
 * <tr><td>{@code purge}</td><td>{@code origin}, its address; {@code port}, as in requests, 0 by default; {@code key}, 1 to
 * 255 octets of UTF-8</td><td>forgets one object; an answer that is on its way is not kept</td></tr>
 * <tr><td>{@code clear}</td><td>none</td><td>forgets all objects, in the same way</td></tr>
 * </table>
 *
 * <p>{@link #view} shows {@code objects}, {@code bytes} that they take and {@code memory} that they may.
 *
 * <p>Thread contract: any threads.
 */
public final class CacheControl implements ServiceControl {
    private static final long PATIENCE_S = 5;

    private record Held(ObjectStore store, long memory) {}

    private final Map<Cache, Held> instances = new ConcurrentHashMap<>();

    /** For the node; {@link #init} follows. */
    public CacheControl() {}

    @Override
    public void init(ServiceConfig config, ControlHost host) {}

    void add(Cache instance, ObjectStore store, long memory) {
        instances.put(instance, new Held(store, memory));
    }

    void remove(Cache instance) {
        instances.remove(instance);
    }

    @Override
    public Map<String, Object> view() {
        return Map.of(
                "objects", sum(held -> held.store.objects()),
                "bytes", sum(held -> held.store.usedBytes()),
                "memory", sum(Held::memory));
    }

    private long sum(ToLongFunction<Held> of) {
        return instances.values().stream().mapToLong(of).sum();
    }

    @Override
    public Map<String, Object> change(String operation, Map<String, Object> arguments) {
        switch (operation) {
            case "purge" -> {
                allow(arguments, "origin", "port", "key");
                byte[] origin = address(arguments.get("origin"));
                long high = AddressText.high(origin);
                long low = AddressText.low(origin);
                int port = port(arguments.get("port"));
                byte[] key = key(arguments.get("key"));
                return Map.of("forgotten", each(cache -> cache.purge(high, low, port, key)));
            }
            case "clear" -> {
                allow(arguments);
                return Map.of("forgotten", each(Cache::clear));
            }
            default -> throw new IllegalArgumentException("operation: must be one of purge, clear");
        }
    }

    /** Has each instance do it on its thread, and waits for them. */
    private long each(ToLongFunction<Cache> what) {
        long sum = 0;
        for (Cache cache : instances.keySet()) {
            CompletableFuture<Long> done = new CompletableFuture<>();
            boolean isTaken = cache.execute(() -> done.complete(what.applyAsLong(cache)));
            try {
                sum += isTaken ? done.get(PATIENCE_S, TimeUnit.SECONDS) : 0;
            } catch (TimeoutException | ExecutionException e) {
                isTaken = false;
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                isTaken = false;
            }
            if (!isTaken && instances.containsKey(cache)) {
                throw new IllegalArgumentException(
                        "the cache did not come to it in " + PATIENCE_S + " s, it is busy: try again");
            }
        }
        return sum;
    }

    private static byte[] address(@Nullable Object value) {
        String text = String.valueOf(value);
        return AddressText.literal(text, "origin: " + text + " must be an address, as 10.0.9.1")
                .getAddress();
    }

    private static int port(@Nullable Object value) {
        try {
            return value == null ? 0 : (int) Decimals.whole(value.toString(), 0, 65_535);
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException("port: " + value + " must be a whole number from 0 to 65535", e);
        }
    }

    private static byte[] key(@Nullable Object value) {
        byte[] key = value == null ? new byte[0] : value.toString().getBytes(StandardCharsets.UTF_8);
        if (key.length < 1 || key.length > 255) {
            throw new IllegalArgumentException("key: has " + key.length + " octets of UTF-8, must have 1 to 255");
        }
        return key;
    }

    private static void allow(Map<String, Object> arguments, String... known) {
        Set<String> names = new TreeSet<>(arguments.keySet());
        names.removeAll(Set.of(known));
        if (!names.isEmpty()) {
            throw new IllegalArgumentException("no such argument: " + names + "; known: " + String.join(", ", known));
        }
    }
}
