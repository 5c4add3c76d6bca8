package org.tamanoir.sapf;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The selectors that this node has issued: a table of {@value Selector#SLOTS} slots, of which the address of a source, or
 * its upper 64 bits over IPv6, has {@value #PER_SOURCE} at most.
 *
 * <p>Anybody can ask in anybody's name. So a binding is <em>unproven</em> until a message or packet has named its
 * selector, which is drawn and sent to the source: {@value #UNPROVEN} such bindings are kept, and they give way, oldest
 * first, to new ones and to the source's other ones. Proven ones give way to nobody before their lifetime is over.
 *
 * <p>Thread contract: any thread; {@link #find} takes no lock.
 */
final class IssuedSelectors {
    static final int PER_SOURCE = 256;
    static final int UNPROVEN = 4_096;

    /** Slots that each new binding looks at for expired ones. */
    private static final int SWEPT = 64;

    /** The bits of an IPv4 address in the lower word; such an address has none in the upper one. */
    private static final long IPV4 = 0xFFFFL;

    private final AtomicReferenceArray<@Nullable Binding> slots = new AtomicReferenceArray<>(Selector.SLOTS);
    private final int epoch;
    private final IntSupplier random;

    private final Map<Source, List<Binding>> sources = new HashMap<>();
    /** Oldest first. */
    private final Set<Binding> unproven = new LinkedHashSet<>();
    /** Slots that had a binding and have none now. */
    private final ArrayDeque<Integer> free = new ArrayDeque<>();
    /** Slots that never had one begin here. */
    private int unused;

    private int swept;
    private int bindings;

    /** Who may have {@value #PER_SOURCE} selectors. */
    private record Source(long high, long low) {
        static Source of(long high, long low) {
            return high == 0 && low >>> 32 == IPV4 ? new Source(high, low) : new Source(high, 0);
        }
    }

    /** @param random gives bits that nobody can foresee */
    IssuedSelectors(IntSupplier random) {
        this.random = random;
        this.epoch = random.getAsInt() & (1 << Selector.EPOCH_BITS) - 1;
    }

    /** Returns the binding of a selector, which may have expired; null when it has none. */
    @Nullable
    Binding find(long selector) {
        Binding binding = slots.get(Selector.slot(selector));
        return binding != null && binding.selector == selector ? binding : null;
    }

    /**
     * A request's outcome: a binding, or why there is none.
     *
     * @param binding null = refused
     * @param reason null = bound
     */
    record Outcome(@Nullable Binding binding, @Nullable Refused reason) {}

    /** Binds a selector to a header; the one of before when the same was asked for before, as the answer may be lost. */
    synchronized Outcome bind(
            long request, HeaderTemplate header, long high, long low, int port, long nowNs, long lifetimeNs) {
        Source source = Source.of(high, low);
        List<Binding> own = sources.getOrDefault(source, List.of());
        for (Binding each : own) {
            if (each.request == request && each.isFrom(high, low, port) && !each.isExpired(nowNs)) {
                each.untilNs = nowNs + lifetimeNs;
                return new Outcome(each, null);
            }
        }
        if (own.size() >= PER_SOURCE && !dropOne(own, nowNs)) {
            return new Outcome(null, Refused.SOURCE_FULL);
        }
        sweep(nowNs);
        if (unproven.size() >= UNPROVEN) {
            dropOldestUnproven();
        }
        if (free.isEmpty() && unused == Selector.SLOTS && !dropOldestUnproven()) {
            return new Outcome(null, Refused.FULL);
        }
        int slot = free.isEmpty() ? unused++ : free.remove();
        long selector = Selector.of(epoch, random.getAsInt(), slot);
        Binding binding = new Binding(selector, request, header, high, low, port, nowNs + lifetimeNs);
        slots.set(slot, binding);
        sources.computeIfAbsent(source, none -> new ArrayList<>()).add(binding);
        unproven.add(binding);
        bindings++;
        return new Outcome(binding, null);
    }

    private void sweep(long nowNs) {
        for (int i = 0; i < SWEPT; i++) {
            Binding binding = slots.get(swept++ & Selector.SLOTS - 1);
            if (binding != null && binding.isExpired(nowNs)) {
                remove(binding);
            }
        }
    }

    /** Drops the one of a source's bindings that is to go first: one that has expired, else the oldest unproven one. */
    private boolean dropOne(List<Binding> own, long nowNs) {
        Binding first = null;
        for (Binding each : own) {
            if (each.isExpired(nowNs)) {
                first = each;
                break;
            }
            if (first == null && !each.isProven) {
                first = each;
            }
        }
        if (first != null) {
            remove(first);
        }
        return first != null;
    }

    private boolean dropOldestUnproven() {
        Iterator<Binding> oldest = unproven.iterator();
        boolean isOne = oldest.hasNext();
        if (isOne) {
            remove(oldest.next());
        }
        return isOne;
    }

    /** Takes note that the binding's source has named its selector. */
    synchronized void prove(Binding binding) {
        binding.isProven = true;
        unproven.remove(binding);
    }

    /** Takes a binding out; its slot gets another tag. */
    synchronized void remove(Binding binding) {
        int slot = Selector.slot(binding.selector);
        if (slots.get(slot) != binding) {
            return;
        }
        slots.set(slot, null);
        free.add(slot);
        unproven.remove(binding);
        bindings--;
        Source source = Source.of(binding.high, binding.low);
        List<Binding> own = sources.get(source);
        if (own != null) {
            own.remove(binding);
            if (own.isEmpty()) {
                sources.remove(source);
            }
        }
    }

    /** Returns the bindings of now; for tests. */
    synchronized List<Binding> all() {
        return sources.values().stream().flatMap(List::stream).toList();
    }

    synchronized int bindings() {
        return bindings;
    }

    int epoch() {
        return epoch;
    }
}
