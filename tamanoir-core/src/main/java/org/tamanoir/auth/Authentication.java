package org.tamanoir.auth;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The keys of a node, and what it does with them: which packets must be authenticated before anything is done for them,
 * and which are signed when they leave. It holds from hop to hop: who changes anything in a packet signs it anew.
 *
 * <p>Thread contract: any thread. Packets see a whole {@link State}, the one before a change or the one after.
 */
public final class Authentication {
    /** Keys at once. */
    public static final int MAX_KEYS = 256;

    private final Refusals refusals;
    /** By number; guarded by the lock. */
    private final TreeMap<Integer, Kept> keys = new TreeMap<>(Integer::compareUnsigned);

    private AuthRules rules = AuthRules.NONE;
    /** Of the state that was published last, from 1 on. */
    private int epoch;
    /** Null while no packet is checked or signed. */
    private volatile @Nullable State now;

    /** A key, with what has come under it. */
    record Kept(AuthKey key, boolean isOfFile, ReplayWindows seen) {}

    /**
     * One key, as it may be shown.
     *
     * @param streams that are remembered
     * @param forgotten streams that are not any more, since others needed their places
     */
    public record Shown(int id, int bytes, boolean isOfFile, boolean signs, int streams, long forgotten) {}

    /**
     * What packets are judged by.
     *
     * @param epoch tells states apart: each has a higher one than those before
     */
    record State(int epoch, AuthRules rules, int[] ids, Kept[] keys) {
        @Nullable
        Kept key(int id) {
            int at = Arrays.binarySearch(ids, id);
            return at < 0 ? null : keys[at];
        }
    }

    /** Makes one that neither checks nor signs. */
    public Authentication(LongSupplier nanoTime) {
        refusals = new Refusals(nanoTime);
    }

    /** Tells of packets that were refused, a line a second for each reason at most, on any thread; must not block. */
    public void onRefusal(Consumer<String> told) {
        refusals.to(told);
    }

    Refusals refusals() {
        return refusals;
    }

    @Nullable
    State now() {
        return now;
    }

    /** Returns whether any packet is checked. */
    public boolean guardsAny() {
        State state = now;
        return state != null && state.rules().guardsAny();
    }

    /** Returns whether packets are checked or signed. */
    public boolean isOn() {
        return now != null;
    }

    /**
     * Returns what checks and signs for the calling thread; null while nothing is checked or signed.
     *
     * @param before what it had
     */
    public @Nullable PacketGuard guard(@Nullable PacketGuard before) {
        return now == null ? null : before == null ? new PacketGuard(this) : before;
    }

    /**
     * Takes other rules, and what differs between two files of keys: what was added or removed otherwise stays as it is.
     *
     * @param before the keys of the file that was taken last
     * @throws IllegalArgumentException in one line, if there are too many keys, or one is missing that signs; nothing is
     *     changed then
     */
    public synchronized void change(AuthRules wanted, List<AuthKey> before, List<AuthKey> after) {
        TreeMap<Integer, Kept> changed = new TreeMap<>(keys);
        for (AuthKey key : before) {
            Kept kept = changed.get(key.id());
            if (find(after, key.id()) == null && kept != null && kept.isOfFile()) {
                changed.remove(key.id());
            }
        }
        for (AuthKey key : after) {
            AuthKey old = find(before, key.id());
            if (old == null || !old.isSame(key)) {
                changed.put(key.id(), new Kept(key, true, new ReplayWindows()));
            }
        }
        requireRoom(changed.size());
        for (int id : wanted.signingKeys()) {
            if (!changed.containsKey(id)) {
                throw new IllegalArgumentException(
                        "key " + AuthKey.text(id) + " is to sign and is not there; add it to the file of keys");
            }
        }
        keys.clear();
        keys.putAll(changed);
        rules = wanted;
        publish();
    }

    private static @Nullable AuthKey find(List<AuthKey> keys, int id) {
        return keys.stream().filter(key -> key.id() == id).findFirst().orElse(null);
    }

    private static void requireRoom(int count) {
        if (count > MAX_KEYS) {
            throw new IllegalArgumentException(
                    count + " keys: must be at most " + MAX_KEYS + "; remove those that nobody signs with");
        }
    }

    /**
     * Adds a key.
     *
     * @throws IllegalArgumentException in one line, if its number is taken or there are too many; nothing is changed then
     */
    public synchronized void add(AuthKey key) {
        if (keys.containsKey(key.id())) {
            throw new IllegalArgumentException("key " + AuthKey.text(key.id())
                    + " is there already: give the new one another number, or remove the old one first");
        }
        requireRoom(keys.size() + 1);
        keys.put(key.id(), new Kept(key, false, new ReplayWindows()));
        publish();
    }

    /**
     * Removes a key.
     *
     * @return false when there is none
     * @throws IllegalArgumentException in one line, if it signs; nothing is changed then
     */
    public synchronized boolean remove(int id) {
        if (rules.signingKeys().contains(id)) {
            throw new IllegalArgumentException("key " + AuthKey.text(id)
                    + " signs what leaves: have another one sign first, by authentication.sign and a reload");
        }
        boolean was = keys.remove(id) != null;
        publish();
        return was;
    }

    /** Returns the keys in the order of their numbers. */
    public synchronized List<Shown> keys() {
        List<Shown> shown = new ArrayList<>();
        keys.forEach((id, kept) -> shown.add(new Shown(
                id,
                kept.key().bytes(),
                kept.isOfFile(),
                rules.signingKeys().contains(id),
                kept.seen().streams(),
                kept.seen().forgotten())));
        return shown;
    }

    /** Returns what is checked and signed. */
    public synchronized AuthRules rules() {
        return rules;
    }

    private void publish() {
        if (!rules.isOn()) {
            now = null;
            return;
        }
        Kept[] sorted = keys.values().stream()
                .sorted(Comparator.comparingInt(kept -> kept.key().id()))
                .toArray(Kept[]::new);
        now = new State(
                ++epoch,
                rules,
                Arrays.stream(sorted).mapToInt(kept -> kept.key().id()).toArray(),
                sorted);
    }
}
