package org.tamanoir.node.admin;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.ServiceKey;
import org.tamanoir.ee.GatewayStatus;
import org.tamanoir.manager.ServiceStatus;
import org.tamanoir.node.config.Endpoint;

/** What the API shows of gateways, as openapi.yaml describes it. Any thread may call. */
final class GatewayViews {
    private GatewayViews() {}

    /** All gateways. */
    record Gateways(List<Gateway> gateways, int total) {
        static Gateways of(List<GatewayStatus> gateways, List<ServiceStatus> services) {
            return new Gateways(
                    gateways.stream().map(each -> Gateway.of(each, services)).toList(), gateways.size());
        }
    }

    /** One gateway. */
    record Gateway(
            String transport,
            String listen,
            String to,
            String format,
            @Nullable String service,
            @Nullable String serviceKey,
            int classOfService,
            long open,
            long begun,
            Views.Traffic traffic) {
        static Gateway of(GatewayStatus status, List<ServiceStatus> services) {
            long key = status.serviceKey();
            return new Gateway(
                    Views.word(status.transport()),
                    Endpoint.toString(status.address()),
                    Endpoint.toString(status.to()),
                    status.format(),
                    name(key, services),
                    key == ServiceKey.NONE ? null : ServiceKey.toString(key),
                    status.classOfService(),
                    status.open(),
                    status.begun(),
                    Views.Traffic.of(status.traffic()));
        }
    }

    /** Returns the service of this key, as packets name it; null where this node does not have it. */
    private static @Nullable String name(long key, List<ServiceStatus> services) {
        for (ServiceStatus service : services) {
            for (String name : List.of(service.name(), Views.label(service.name(), service.version()))) {
                if (ServiceKey.of(name) == key) {
                    return name;
                }
            }
        }
        return null;
    }
}
