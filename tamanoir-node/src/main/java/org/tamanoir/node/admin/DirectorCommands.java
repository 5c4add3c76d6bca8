package org.tamanoir.node.admin;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import org.tamanoir.cluster.Director;
import org.tamanoir.cluster.Registration;
import org.tamanoir.cluster.lvs.ClusterException;
import org.tamanoir.cluster.lvs.RealServer;
import org.tamanoir.deploy.ServiceId;

/** Registrations and changes through the director's API. Any thread may call. */
final class DirectorCommands {
    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,62}");
    private static final double MAX_DEADLINE_SECONDS = 24 * 3600;
    private static final int MAX_ADDRESS = 64;
    private static final int MAX_URL = 300;
    private static final int MAX_LINES = 256;
    private static final int MAX_LINE = 500;

    private final Director director;
    private final Duration drainDeadline;
    private final Set<String> withOwnToken;

    /** @param withOwnToken back-ends that were told apart by a token of their own before they come here */
    DirectorCommands(Director director, Duration drainDeadline, Set<String> withOwnToken) {
        this.director = director;
        this.withOwnToken = Set.copyOf(withOwnToken);
        this.drainDeadline = drainDeadline;
    }

    /** What a director does, and may refuse. */
    interface Work<T> {
        T run() throws ClusterException;
    }

    /** The same, with a refusal as an answer. */
    static <T> T known(Work<T> work) throws ApiException {
        try {
            return work.run();
        } catch (ClusterException | IllegalArgumentException e) {
            throw new ApiException(ApiException.INVALID, String.valueOf(e.getMessage()));
        }
    }

    Object register(Call call) throws ApiException {
        String name = name(call);
        JsonFields fields = call.fields();
        String address = fields.text("address");
        String admin = fields.text("admin");
        int weight = fields.number("weight", 1, RealServer.MAX_WEIGHT, 0);
        boolean leaving = fields.flag("leaving", false);
        List<String> findings = fields.texts("findings", MAX_LINES, MAX_LINE);
        List<String> services = fields.texts("services", MAX_LINES, ServiceId.MAX_NAME + 1 + ServiceId.MAX_VERSION);
        if (admin == null) {
            fields.problem("admin is missing: the base address of the node's admin API is wanted");
        }
        if (address != null && address.length() > MAX_ADDRESS || admin != null && admin.length() > MAX_URL) {
            fields.problem("address or admin is too long: 64 and 300 characters are allowed");
        }
        fields.check();
        return known(() -> director.register(
                name,
                new Registration(
                        address, String.valueOf(admin), weight == 0 ? null : weight, leaving, findings, services),
                withOwnToken.contains(name) ? null : call.from()));
    }

    Object drain(Call call) throws ApiException {
        JsonFields fields = call.fields();
        double seconds = fields.seconds("deadlineSeconds", MAX_DEADLINE_SECONDS, drainDeadline.toMillis() / 1e3);
        fields.check();
        Duration deadline = Duration.ofMillis(Math.round(seconds * 1e3));
        return told(call, name -> director.drain(name, deadline));
    }

    Object join(Call call) throws ApiException {
        call.fields().check();
        return told(call, director::join);
    }

    Object leave(Call call) throws ApiException {
        return told(call, director::leave);
    }

    Object deploy(Call call) throws ApiException {
        return ordered(call, director::deploy);
    }

    Object undeploy(Call call) throws ApiException {
        return ordered(call, director::undeploy);
    }

    private static Object ordered(Call call, Order order) throws ApiException {
        String service = service(call);
        return known(() -> {
            order.give(service);
            return new DirectorViews.Service(service);
        });
    }

    /** What an operator tells the director of a back-end or a service. */
    private interface Order {
        void give(String name) throws ClusterException;
    }

    private Object told(Call call, Order order) throws ApiException {
        String name = name(call);
        try {
            order.give(name);
            return new DirectorViews.BackEnd(name);
        } catch (ClusterException e) {
            boolean isKnown = director.status().backEnds().stream()
                    .anyMatch(member -> member.name().equals(name));
            throw new ApiException(
                    isKnown ? ApiException.CONFLICT : ApiException.NOT_FOUND, String.valueOf(e.getMessage()));
        }
    }

    private static String name(Call call) throws ApiException {
        String name = call.path("name");
        if (!NAME.matcher(name).matches()) {
            throw new ApiException(
                    ApiException.INVALID,
                    "back-end '" + (name.length() <= 80 ? name : name.substring(0, 80) + "...")
                            + "': its name must be 1 to 63 letters, digits, '.', '_' and '-', the first a letter or "
                            + "digit");
        }
        return name;
    }

    /** The name in the path, with the version of the body where one is given. */
    private static String service(Call call) throws ApiException {
        String name = call.serviceName();
        JsonFields fields = call.fields();
        String version = fields.text("version");
        fields.check();
        return version == null ? name : known(() -> new ServiceId(name, version).toString());
    }
}
