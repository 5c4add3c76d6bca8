package org.tamanoir.service;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Says of a {@link Service} that the next hops of a TCP stream are receivers of copies, none of which the others are to
 * wait for: one that is lost, cannot be reached, or is behind for too long is let go alone. What waits for it is dropped,
 * its connection is reset, since it lacks packets then, and a new one is tried later. For all other services that is the
 * end of the stream.
 *
 * <p>The others wait for a receiver at each try, for its patience and a quarter at most. A try that fails is followed by a
 * rest of a second, then of twice as long, up to 20 patiences or a minute, whichever is longer: in the end a receiver that
 * takes nothing costs a 17th of the stream's time at most, and several the sum of that.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
public @interface FanOut {
    int DEFAULT_PATIENCE_MS = 5_000;

    /**
     * The time in which a receiver has to take what is given to it at once, which is 256 KiB and the longest packet at
     * most; in ms, 1 or more.
     */
    int patienceMs() default DEFAULT_PATIENCE_MS;
}
