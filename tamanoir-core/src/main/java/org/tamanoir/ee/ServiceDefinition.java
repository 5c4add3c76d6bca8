package org.tamanoir.ee;

import java.util.function.Supplier;
import org.tamanoir.anep.ServiceKey;
import org.tamanoir.service.FailurePolicy;
import org.tamanoir.service.Service;
import org.tamanoir.service.ServiceConfig;

/**
 * A service that the node can run.
 *
 * @param name {@code org.example.Foo}
 * @param factory makes an instance for each TCP stream, and one for UDP; called on any thread
 * @param config what each instance is initialised with
 * @param failurePolicy what becomes of a packet that made an instance throw
 */
public record ServiceDefinition(
        String name, Supplier<? extends Service> factory, ServiceConfig config, FailurePolicy failurePolicy) {

    /** The key that packets name the service by. */
    public long key() {
        return ServiceKey.of(name);
    }
}
