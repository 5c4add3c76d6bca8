package org.tamanoir.catalog;

import java.util.function.Supplier;
import org.tamanoir.anep.ServiceKey;
import org.tamanoir.service.FailurePolicy;
import org.tamanoir.service.Service;
import org.tamanoir.service.ServiceConfig;
import org.tamanoir.service.ServiceTraits;

/**
 * A service that the node can run: one version of it.
 *
 * @param name {@code org.example.Foo}
 * @param version empty for services of the class path
 * @param factory makes an instance for each TCP stream, and one for UDP; called on any thread
 * @param config what each instance is initialised with
 * @param failurePolicy what becomes of a packet that made an instance throw
 * @param health what all its instances did and used
 * @param placement where its UDP packets are handled
 * @param control what operators see and change of it
 * @param dispatch how its UDP packets come to instances
 * @param traits what its class says of itself
 */
public record ServiceDefinition(
        String name,
        String version,
        Supplier<? extends Service> factory,
        ServiceConfig config,
        FailurePolicy failurePolicy,
        ServiceHealth health,
        Placement placement,
        DefinedControl control,
        Dispatch dispatch,
        ServiceTraits traits) {

    /** Defines a service whose class has no annotations. */
    public ServiceDefinition(
            String name,
            String version,
            Supplier<? extends Service> factory,
            ServiceConfig config,
            FailurePolicy failurePolicy,
            ServiceHealth health,
            Placement placement,
            DefinedControl control,
            Dispatch dispatch) {
        this(name, version, factory, config, failurePolicy, health, placement, control, dispatch, ServiceTraits.NONE);
    }

    /** Defines a service all of whose UDP packets one thread has. */
    public ServiceDefinition(
            String name,
            String version,
            Supplier<? extends Service> factory,
            ServiceConfig config,
            FailurePolicy failurePolicy,
            ServiceHealth health,
            Placement placement,
            DefinedControl control) {
        this(name, version, factory, config, failurePolicy, health, placement, control, Dispatch.STREAM);
    }

    /** Defines a service that has no control. */
    public ServiceDefinition(
            String name,
            String version,
            Supplier<? extends Service> factory,
            ServiceConfig config,
            FailurePolicy failurePolicy,
            ServiceHealth health,
            Placement placement) {
        this(name, version, factory, config, failurePolicy, health, placement, DefinedControl.NONE);
    }

    /** Defines a service in the JVM. */
    public ServiceDefinition(
            String name,
            String version,
            Supplier<? extends Service> factory,
            ServiceConfig config,
            FailurePolicy failurePolicy,
            ServiceHealth health) {
        this(name, version, factory, config, failurePolicy, health, new Placement());
    }

    /** Defines a service of the class path, in the JVM, without a version and without limits. */
    public ServiceDefinition(
            String name, Supplier<? extends Service> factory, ServiceConfig config, FailurePolicy failurePolicy) {
        this(name, "", factory, config, failurePolicy, new ServiceHealth());
    }

    /** Returns the key that packets name the service by. */
    public long key() {
        return ServiceKey.of(name);
    }

    /** Returns what packets for it meet first: while it is in quarantine, none of its code. */
    public ServiceDefinition entrance() {
        return health.isQuarantined() ? Transit.DEFINITION : this;
    }

    /** Returns {@code name:version}, or the name alone when there is no version. */
    public String label() {
        return version.isEmpty() ? name : name + ":" + version;
    }
}
