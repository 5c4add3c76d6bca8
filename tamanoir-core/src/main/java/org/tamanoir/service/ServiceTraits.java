package org.tamanoir.service;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What the class of a service says of itself in annotations. It is read once, when the service is defined, so that
 * threads that serve others never read annotations: reflection runs code of the annotations' classes.
 *
 * @param sizes what it does to the sizes of its traffic
 * @param perPacket whether several instances may have its UDP packets
 * @param patience how long the next hops of a stream wait for one of them, which is let go alone then; null if the loss
 *     of one is the end of the stream
 * @param settings that it takes
 */
public record ServiceTraits(
        SizeEffect sizes, boolean perPacket, @Nullable Duration patience, DeclaredSettings settings) {
    /** A class without annotations. */
    public static final ServiceTraits NONE = new ServiceTraits(SizeEffect.KEEPS, false, null, DeclaredSettings.ANY);

    /** Makes those of a class that declares no settings. */
    public ServiceTraits(SizeEffect sizes, boolean perPacket, @Nullable Duration patience) {
        this(sizes, perPacket, patience, DeclaredSettings.ANY);
    }

    /** Throws {@link IllegalArgumentException} for a patience below a millisecond. */
    public ServiceTraits {
        if (patience != null && patience.toMillis() < 1) {
            throw new IllegalArgumentException(
                    "patienceMs " + patience.toMillis() + " of FanOut: must be from 1 to " + Integer.MAX_VALUE);
        }
    }

    /**
     * Reads a class of the class path by reflection; a deployed class is read from its file.
     *
     * @throws IllegalArgumentException in one line, for values out of bounds
     */
    public static ServiceTraits of(Class<? extends Service> service) {
        FanOut fanOut = service.getAnnotation(FanOut.class);
        return new ServiceTraits(
                SizeEffect.of(service),
                service.isAnnotationPresent(PerPacket.class),
                fanOut == null ? null : Duration.ofMillis(fanOut.patienceMs()),
                DeclaredSettings.of(service));
    }
}
