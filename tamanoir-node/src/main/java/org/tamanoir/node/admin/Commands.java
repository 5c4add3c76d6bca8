package org.tamanoir.node.admin;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.tamanoir.catalog.Placement;
import org.tamanoir.deploy.ServiceId;
import org.tamanoir.manager.ActiveNodeManager;
import org.tamanoir.manager.ManagerException;
import org.tamanoir.manager.ServiceStatus;
import org.tamanoir.node.config.QosSection;
import org.tamanoir.node.config.QosTable;
import org.tamanoir.qdisc.QosConfig;
import org.tamanoir.routing.Prefix;
import org.tamanoir.routing.Route;

/** Changes of the node that an operator asks for. Any thread may call; deployments block it. */
public final class Commands {
    private static final double DEFAULT_DEADLINE_SECONDS = 10;
    private static final double MAX_DEADLINE_SECONDS = 86_400;

    private final ActiveNodeManager manager;

    Commands(ActiveNodeManager manager) {
        this.manager = manager;
    }

    Views.Service deploy(Call call) throws ApiException, ManagerException {
        JsonFields fields = call.fields();
        String service = service(call, fields);
        boolean allowOlder = fields.flag("allowOlder", false);
        fields.check();
        return Views.Service.of(manager.deploy(service, allowOlder));
    }

    Views.Services undeploy(Call call) throws ApiException, ManagerException {
        JsonFields fields = call.fields();
        String service = service(call, fields);
        double deadlineSeconds = fields.seconds("deadlineSeconds", MAX_DEADLINE_SECONDS, DEFAULT_DEADLINE_SECONDS);
        boolean block = fields.flag("block", true);
        fields.check();
        return listed(manager.undeploy(service, Duration.ofMillis(Math.round(deadlineSeconds * 1000)), block));
    }

    Views.Services drain(Call call) throws ApiException, ManagerException {
        JsonFields fields = call.fields();
        String service = service(call, fields);
        fields.check();
        return listed(manager.drain(service));
    }

    Views.Services release(Call call) throws ApiException, ManagerException {
        JsonFields fields = call.fields();
        String service = service(call, fields);
        fields.check();
        return listed(manager.release(service));
    }

    Views.Services place(Call call) throws ApiException, ManagerException {
        JsonFields fields = call.fields();
        String service = service(call, fields);
        String label = fields.text("level");
        Placement.Wanted wanted = Placement.Wanted.JVM;
        if (label == null) {
            fields.problem("level is missing: jvm, module, tc, xdp or auto is wanted");
        } else {
            try {
                wanted = Placement.Wanted.of(label);
            } catch (IllegalArgumentException e) {
                fields.problem(String.valueOf(e.getMessage()));
            }
        }
        fields.check();
        return listed(manager.place(service, wanted));
    }

    private static String service(Call call, JsonFields fields) throws ApiException {
        String name = call.serviceName();
        String version = fields.text("version");
        if (version == null) {
            return name;
        }
        try {
            return new ServiceId(name, version).toString();
        } catch (IllegalArgumentException e) {
            fields.problem(String.valueOf(e.getMessage()));
            return name;
        }
    }

    private static Views.Services listed(List<ServiceStatus> services) {
        return new Views.Services(services.stream().map(Views.Service::of).toList(), services.size());
    }

    Views.Revoked revoke(Call call) throws ApiException, ManagerException {
        JsonFields fields = call.fields();
        String key = fields.text("key");
        String digest = fields.text("digest");
        if ((key == null) == (digest == null)) {
            fields.problem("either key, a publisher's key id, or digest, a jar's SHA-256, is wanted");
        } else if (key != null && !key.matches("[0-9a-f]{16}")) {
            fields.problem("key: 16 hexadecimal digits in lower case are wanted");
        } else if (digest != null && !digest.matches("[0-9a-f]{64}")) {
            fields.problem("digest: 64 hexadecimal digits in lower case are wanted");
        }
        fields.check();
        String revoked = key != null ? key : String.valueOf(digest);
        manager.revoke(revoked);
        return new Views.Revoked(revoked);
    }

    RouteJson putRoute(Call call) throws ApiException, ManagerException {
        Prefix prefix = prefix(call);
        JsonFields fields = call.fields();
        Route route = RouteJson.read(fields, prefix);
        fields.check();
        if (route == null) {
            throw new ApiException(ApiException.INVALID, "no route");
        }
        manager.putRoute(route);
        return RouteJson.of(route);
    }

    Views.Routes replaceRoutes(Call call) throws ApiException {
        JsonFields fields = call.fields();
        List<JsonFields> given = fields.objects("routes", "route");
        if (given == null) {
            fields.problem("routes is missing: a list is wanted, an empty one removes all routes");
        }
        List<Route> routes = new ArrayList<>();
        for (JsonFields item : given == null ? List.<JsonFields>of() : given) {
            @Nullable Route route = RouteJson.read(item, null);
            if (route != null) {
                if (routes.stream().anyMatch(other -> other.prefix().equals(route.prefix()))) {
                    item.problem("prefix " + route.prefix() + " has a route already; remove one");
                }
                routes.add(route);
            }
        }
        fields.check();
        manager.replaceRoutes(routes);
        return Queries.routes(manager.routes(), Integer.MAX_VALUE);
    }

    RouteJson removeRoute(Call call) throws ApiException, ManagerException {
        Prefix prefix = prefix(call);
        Route removed = manager.route(prefix);
        manager.removeRoute(prefix);
        if (removed == null) {
            throw new ApiException(ApiException.CONFLICT, "the route to " + prefix + " was set meanwhile; look again");
        }
        return RouteJson.of(removed);
    }

    Map<String, @Nullable Object> changeQos(Call call) throws ApiException {
        List<String> problems = new ArrayList<>();
        QosConfig config = QosSection.read(call.json(), problems);
        if (problems.isEmpty()) {
            try {
                manager.changeQos(config);
                return QosTable.data(config);
            } catch (ManagerException e) {
                problems.addAll(String.valueOf(e.getMessage()).lines().toList());
            }
        }
        throw new ApiException(
                ApiException.INVALID,
                "the configuration is refused and nothing is changed; "
                        + (problems.size() == 1 ? problems.get(0) : problems.size() + " things are wrong"),
                problems);
    }

    Map<String, @Nullable Object> qosOff() throws ManagerException {
        manager.changeQos(QosConfig.OFF);
        return QosTable.data(QosConfig.OFF);
    }

    static Prefix prefix(Call call) throws ApiException {
        try {
            return Prefix.parse(call.path("prefix"));
        } catch (IllegalArgumentException e) {
            throw new ApiException(ApiException.INVALID, "prefix " + e.getMessage());
        }
    }
}
