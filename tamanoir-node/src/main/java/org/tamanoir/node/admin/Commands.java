package org.tamanoir.node.admin;

import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Semaphore;
import org.jspecify.annotations.Nullable;
import org.tamanoir.catalog.Placement;
import org.tamanoir.deploy.ServiceId;
import org.tamanoir.manager.ActiveNodeManager;
import org.tamanoir.manager.ManagerException;
import org.tamanoir.manager.ServiceStatus;
import org.tamanoir.node.config.QosSection;
import org.tamanoir.node.config.QosTable;
import org.tamanoir.node.config.RouteFiles;
import org.tamanoir.qdisc.QosConfig;
import org.tamanoir.routing.Prefix;
import org.tamanoir.routing.Route;
import org.tamanoir.routing.RouteFileException;
import org.tamanoir.routing.RouteSet;

/** Changes of the node that an operator asks for. Any thread may call; deployments block it. */
public final class Commands {
    private static final double DEFAULT_DEADLINE_SECONDS = 10;
    private static final double MAX_DEADLINE_SECONDS = 86_400;

    /** Next hops for the prefixes of a file, and characters of each. */
    private static final int MAX_VIA = 64;

    private static final int MAX_TEXT = 300;

    private final ActiveNodeManager manager;
    /** A file of routes takes memory while it is read: one at a time. */
    private final Semaphore loading = new Semaphore(1);

    private Reloading reloading = () -> {
        throw new ManagerException(
                ManagerException.Kind.CONFLICT, "this node has no configuration that could be read again");
    };

    Commands(ActiveNodeManager manager) {
        this.manager = manager;
    }

    /** Has the configuration read again by this. Before requests come. */
    void reloading(Reloading again) {
        reloading = again;
    }

    /** Reads the configuration that the node was started with; whoever asks cannot name another file. */
    Reloading.Outcome reload(Call call) throws ApiException, ManagerException {
        call.fields().check();
        try {
            return reloading.reload();
        } catch (ManagerException e) {
            throw refused(e);
        }
    }

    Views.Service deploy(Call call) throws ApiException, ManagerException {
        JsonFields fields = call.fields();
        String service = service(call.serviceName(), fields); // As it is: it may be none of those that are here.
        boolean allowOlder = fields.flag("allowOlder", false);
        fields.check();
        return Views.Service.of(manager.deploy(service, allowOlder));
    }

    Views.Services undeploy(Call call) throws ApiException, ManagerException {
        JsonFields fields = call.fields();
        String service = service(ServiceNames.full(manager, call), fields);
        double deadlineSeconds = fields.seconds("deadlineSeconds", MAX_DEADLINE_SECONDS, DEFAULT_DEADLINE_SECONDS);
        boolean block = fields.flag("block", true);
        fields.check();
        return listed(manager.undeploy(service, Duration.ofMillis(Math.round(deadlineSeconds * 1000)), block));
    }

    Views.Services drain(Call call) throws ApiException, ManagerException {
        JsonFields fields = call.fields();
        String service = service(ServiceNames.full(manager, call), fields);
        fields.check();
        return listed(manager.drain(service));
    }

    Views.Services release(Call call) throws ApiException, ManagerException {
        JsonFields fields = call.fields();
        String service = service(ServiceNames.full(manager, call), fields);
        fields.check();
        return listed(manager.release(service));
    }

    Views.Services place(Call call) throws ApiException, ManagerException {
        JsonFields fields = call.fields();
        String service = service(ServiceNames.full(manager, call), fields);
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

    Map<String, Object> control(Call call) throws ApiException, ManagerException {
        String operation = call.path("operation");
        if (!operation.matches("[a-z][a-z0-9-]{0,63}")) {
            throw new ApiException(
                    ApiException.INVALID,
                    "the operation is no word: up to 64 small letters, digits and hyphens are wanted");
        }
        try {
            return manager.control(call.admittedService(), operation, JsonFields.tree(call.json()));
        } catch (ManagerException e) {
            throw refused(e);
        }
    }

    /** Returns a refusal with its lines; what is none goes on as it is. */
    private static ApiException refused(ManagerException e) throws ManagerException {
        if (e.kind() != ManagerException.Kind.INVALID) {
            throw e;
        }
        List<String> lines = String.valueOf(e.getMessage()).lines().toList();
        return new ApiException(
                ApiException.INVALID,
                "refused, and nothing is changed; "
                        + (lines.size() == 1 ? lines.get(0) : lines.size() + " things are wrong"),
                lines);
    }

    private static String service(String name, JsonFields fields) throws ApiException {
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
        return Queries.routes(manager, null, null, Call.MAX_LIMIT);
    }

    /**
     * Puts the routes of a file on this host in place of all others. Of the file's content nothing is answered but
     * where it is wrong: who may change routes may not read what the node may.
     */
    Views.RouteCount loadRoutes(Call call) throws ApiException {
        JsonFields fields = call.fields();
        Path file = routeFile(fields);
        List<String> via = fields.texts("via", MAX_VIA, MAX_TEXT);
        int peer = fields.number("mrtPeer", 0, 0xFFFF, RouteFiles.FIRST_PEER);
        fields.check();
        if (!loading.tryAcquire()) {
            throw new ApiException(ApiException.CONFLICT, "another file of routes is being read: try again later");
        }
        try {
            RouteSet routes = RouteFiles.readRegular(file, via, peer);
            manager.replaceRoutes(routes, file.toString());
            return new Views.RouteCount(manager.routeCount(), routes.leftOut(), routes.withoutNextHop());
        } catch (IllegalArgumentException e) {
            throw new ApiException(
                    ApiException.INVALID, "the routes are refused and nothing is changed; " + e.getMessage());
        } catch (RouteFileException e) {
            throw new ApiException(
                    ApiException.INVALID,
                    "the routes are refused and nothing is changed; " + e.summary(),
                    e.withoutContent());
        } finally {
            loading.release();
        }
    }

    /** Reads the field {@code file}; one that is another by the time that it is opened is refused then. */
    private static Path routeFile(JsonFields fields) {
        String text = fields.text("file");
        if (text == null) {
            fields.problem("file is missing: an absolute path on the node's host is wanted");
            return Path.of("");
        }
        try {
            Path file = Path.of(text);
            if (!file.isAbsolute()) {
                fields.problem("file '" + Replies.shortened(text) + "': an absolute path on the node's host is wanted");
            } else if (!Files.isRegularFile(file) || file.toFile().length() == 0) { // in /proc some never end
                fields.problem("file '" + Replies.shortened(text)
                        + "': no regular file with something in it on the node's host, or no "
                        + "permission; correct the path");
            }
            return file;
        } catch (InvalidPathException e) {
            fields.problem("file: " + e.getReason() + ": a path on the node's host is wanted");
            return Path.of("");
        }
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
        if (problems.isEmpty() && !manager.mayHaveOthers()) {
            problems.addAll(QosSection.nobodyHas(config, manager.serviceNames()));
        }
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
