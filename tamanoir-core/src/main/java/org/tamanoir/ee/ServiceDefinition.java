package org.tamanoir.ee;

import java.util.function.Supplier;
import org.tamanoir.anep.ServiceKey;
import org.tamanoir.service.FailurePolicy;
import org.tamanoir.service.Service;
import org.tamanoir.service.ServiceConfig;

/**
 * A service that the node can run: one version of it.
 *
 * @param name {@code org.example.Foo}
 * @param version empty for services of the class path
 * @param factory makes an instance for each TCP stream, and one for UDP; called on any thread
 * @param config what each instance is initialised with
 * @param failurePolicy what becomes of a packet that made an instance throw
 * @param life what all its instances did and used
 * @param placement where its UDP packets are handled
 */
public record ServiceDefinition(
        String name,
        String version,
        Supplier<? extends Service> factory,
        ServiceConfig config,
        FailurePolicy failurePolicy,
        ServiceLife life,
        Placement placement) {

    /** In the JVM. */
    public ServiceDefinition(
            String name,
            String version,
            Supplier<? extends Service> factory,
            ServiceConfig config,
            FailurePolicy failurePolicy,
            ServiceLife life) {
        this(name, version, factory, config, failurePolicy, life, new Placement());
    }

    /** A service of the class path, in the JVM, without a version and without limits. */
    public ServiceDefinition(
            String name, Supplier<? extends Service> factory, ServiceConfig config, FailurePolicy failurePolicy) {
        this(name, "", factory, config, failurePolicy, new ServiceLife());
    }

    /** The key that packets name the service by. */
    public long key() {
        return ServiceKey.of(name);
    }

    /** {@code name:version}, or the name alone when there is no version. */
    public String label() {
        return version.isEmpty() ? name : name + ":" + version;
    }
}
