package org.tamanoir.manager;

import java.net.InetSocketAddress;
import java.util.List;
import java.util.function.Function;
import org.tamanoir.catalog.Dispatch;
import org.tamanoir.catalog.Placement;
import org.tamanoir.deploy.CodeCache;
import org.tamanoir.deploy.CodeFetcher;
import org.tamanoir.deploy.ServiceId;
import org.tamanoir.deploy.ServiceLimits;
import org.tamanoir.service.FailurePolicy;
import org.tamanoir.service.ServiceConfig;

/**
 * Where a node's code comes from, and what becomes of it.
 *
 * @param fetcher gets code
 * @param cache where it lies
 * @param trust whose code runs
 * @param onDemand whether streams can cause a deployment
 * @param neighbours code servers of nodes that may be asked although they are not a stream's peer
 * @param tls whether code servers of other nodes are asked by https
 * @param settings for each version
 */
public record DeploymentConfig(
        CodeFetcher fetcher,
        CodeCache cache,
        TrustStore trust,
        boolean onDemand,
        List<InetSocketAddress> neighbours,
        boolean tls,
        Function<ServiceId, ServiceSettings> settings) {
    /**
     * What the operator wants of a deployed service.
     *
     * @param config for its instances
     * @param failurePolicy what becomes of packets that make it throw
     * @param limits beside those of its manifest
     * @param level where it is to be handled, as far as its manifest allows
     * @param dispatch how its UDP packets come to instances
     */
    public record ServiceSettings(
            ServiceConfig config,
            FailurePolicy failurePolicy,
            ServiceLimits limits,
            Placement.Wanted level,
            Dispatch dispatch) {
        /** No settings, dropping, no limits, in the JVM. */
        public static final ServiceSettings DEFAULT =
                new ServiceSettings(ServiceConfig.EMPTY, FailurePolicy.DROP, ServiceLimits.NONE);

        /** Makes settings of a service in the JVM. */
        public ServiceSettings(ServiceConfig config, FailurePolicy failurePolicy, ServiceLimits limits) {
            this(config, failurePolicy, limits, Placement.Wanted.JVM, Dispatch.STREAM);
        }
    }
}
