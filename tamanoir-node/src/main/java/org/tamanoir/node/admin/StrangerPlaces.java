package org.tamanoir.node.admin;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** Counts the live answers that each stranger has at once, so that none has them all. Any thread may call. */
final class StrangerPlaces {
    static final int MAX_OF_EACH = 4;

    private final Map<Object, Integer> taken = new ConcurrentHashMap<>();

    /**
     * Takes a place, which {@link #leave} gives back.
     *
     * @param stranger as {@link org.tamanoir.repository.HttpListener#stranger} names it; null = none, who needs no place
     * @throws ApiException in one line, if this stranger has none left
     */
    void take(@Nullable Object stranger) throws ApiException {
        if (stranger != null && taken.merge(stranger, 1, Integer::sum) > MAX_OF_EACH) {
            leave(stranger);
            throw new ApiException(
                    ApiException.BUSY,
                    "too many live answers of this address at once, " + MAX_OF_EACH + " are allowed: end one");
        }
    }

    void leave(@Nullable Object stranger) {
        if (stranger != null) {
            taken.computeIfPresent(stranger, (each, count) -> count == 1 ? null : count - 1);
        }
    }
}
