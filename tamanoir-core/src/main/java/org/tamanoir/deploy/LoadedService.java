package org.tamanoir.deploy;

import java.util.List;
import java.util.function.Supplier;
import org.tamanoir.service.Service;

/**
 * One version of a service, loaded by a class loader of its own: classes of its jar come first, then those of
 * {@code org.tamanoir.service}, {@code org.tamanoir.anep} and the JDK; it sees nothing else of the node.
 *
 * <p>Thread contract: any thread.
 */
public final class LoadedService implements AutoCloseable {
    /**
     * Opens the jar and finds the main class; runs none of its code, static initialisers included.
     *
     * @throws CodeRefusedException {@link Refusal#NOT_A_SERVICE} or {@link Refusal#WRONG_DIGEST}
     */
    public static LoadedService load(ServicePackage code) throws CodeRefusedException {
        throw new UnsupportedOperationException("load");
    }

    private LoadedService() {}

    /** What it was loaded from. */
    public ServicePackage code() {
        throw new UnsupportedOperationException("code");
    }

    /** Makes instances; throws what the constructor or a static initialiser throws. */
    public Supplier<Service> factory() {
        throw new UnsupportedOperationException("factory");
    }

    /** Ends: closes the jar and forgets the classes. Instances should have ended. */
    @Override
    public void close() {
        throw new UnsupportedOperationException("close");
    }

    /** Whether, after {@link #close}, the classes have been unloaded; asks the collector at most once a call. */
    public boolean isUnloaded() {
        throw new UnsupportedOperationException("isUnloaded");
    }

    /**
     * What keeps the classes in memory after {@link #close}, as far as it can be found: threads that run its code,
     * were made by it or have its class loader as their context; one line each.
     */
    public List<String> holders() {
        throw new UnsupportedOperationException("holders");
    }
}
