package org.tamanoir.repository;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Finds versions by a text in their name or description. A search looks at every version, {@value Index#MAX_VERSIONS}
 * at most, and folds none of their texts: that is done when the index changes.
 *
 * <p>Thread contract: one thread at a time, which is not the event loop's.
 */
final class ServiceSearch {
    /** Names in a search's query. */
    static final List<String> QUERY = List.of("q", "offset", "limit");

    private final RepositoryTree tree;
    private @Nullable TreeFile index;
    private List<Searched> all = List.of();

    /** @param text name and description in lower case, a line each */
    private record Searched(IndexEntry entry, String text) {}

    /**
     * Some of what was found.
     *
     * @param total of all that was found
     */
    record Page(int total, List<IndexEntry> services) {}

    ServiceSearch(RepositoryTree tree) {
        this.tree = tree;
    }

    /**
     * Searches.
     *
     * @param text without line breaks; case does not matter
     * @param limit of the entries that are returned, from {@code offset} on
     */
    Page find(String text, int offset, int limit) {
        TreeFile now = tree.index();
        if (now != index) {
            all = tree.entries().stream()
                    .map(entry -> new Searched(entry, folded(entry.name() + "\n" + entry.description())))
                    .toList();
            index = now;
        }
        String wanted = folded(text);
        int total = 0;
        List<IndexEntry> page = new ArrayList<>();
        for (Searched each : all) {
            if (each.text.contains(wanted)) {
                if (total >= offset && page.size() < limit) {
                    page.add(each.entry);
                }
                total++;
            }
        }
        return new Page(total, page);
    }

    private static String folded(String text) {
        return text.toLowerCase(Locale.ROOT);
    }
}
