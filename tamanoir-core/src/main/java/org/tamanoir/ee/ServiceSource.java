package org.tamanoir.ee;

import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.DropReason;

/** Where the environment gets services that its catalog lacks: the Active Node Manager. */
public interface ServiceSource {
    /**
     * Asks for a service. Returns at once; the answer comes in bounded time, once, on any thread, possibly on the
     * caller's before this returns. On success the service stands in the catalog when the answer comes.
     *
     * @param key what packets name it by
     */
    void request(long key, Origin origin, Consumer<Answer> then);

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
