package org.tamanoir.catalog;

import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.tamanoir.accounting.DropReason;

/** Where the environment gets services that its catalog lacks: the Active Node Manager. */
public interface ServiceSource {
    /**
     * Begins to look for a service, of which nobody is asked yet. Returns at once, and calls nobody. One at a time is
     * begun for a key, whoever waits for it.
     *
     * @param key what packets name it by
     * @param then gets the answer, in bounded time, once, on any thread; on success the service stands in the catalog then
     */
    Fetch fetch(long key, Consumer<Answer> then);

    /** One search for a service. Any thread may call. */
    interface Fetch {
        /**
         * Looks for it for the sake of an origin, where it may be had. Returns at once; the answer may come before, on the
         * caller's thread.
         */
        void ask(Origin origin);

        /** Gives up: nobody waits for the answer any more. */
        default void cancel() {}
    }

    /**
     * An answer.
     *
     * @param service null when there is none to be had now
     * @param refusal why not: {@link DropReason#UNKNOWN_SERVICE}, {@link DropReason#DEPLOYMENT_FAILED}; null with a
     *     service
     */
    record Answer(
            @Nullable ServiceDefinition service, @Nullable DropReason refusal) {
        /** Here it is. */
        public static Answer of(ServiceDefinition service) {
            return new Answer(service, null);
        }

        /** There is none. */
        public static Answer refused(DropReason why) {
            return new Answer(null, why);
        }
    }
}
