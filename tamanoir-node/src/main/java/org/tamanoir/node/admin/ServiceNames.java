package org.tamanoir.node.admin;

import java.util.Set;
import java.util.TreeSet;
import org.tamanoir.deploy.ServiceId;
import org.tamanoir.manager.ActiveNodeManager;

/** Names of services as operators type them. Any thread may call. */
final class ServiceNames {
    private ServiceNames() {}

    /**
     * Returns the full name of the service in the path, of which the end is enough where one service alone on this node
     * fits: {@code Monitor}. A name that fits none stays as it is.
     */
    static String full(ActiveNodeManager manager, Call call) throws ApiException {
        return full(manager, call.path("name"));
    }

    /** Returns the full name of the service that somebody typed, as {@link #full(ActiveNodeManager, Call)} does. */
    static String full(ActiveNodeManager manager, String typed) throws ApiException {
        String name = required(typed);
        Set<String> services = manager.serviceNames();
        if (services.contains(name)) {
            return name;
        }
        Set<String> fitting = new TreeSet<>();
        for (String service : services) {
            if (service.endsWith("." + name)) {
                fitting.add(service);
            }
        }
        if (fitting.size() > 1) {
            throw new ApiException(
                    ApiException.CONFLICT,
                    "service " + name + " can be " + String.join(", ", fitting) + ": give the full name");
        }
        return fitting.isEmpty() ? name : fitting.iterator().next();
    }

    /** Returns a name, if it can be one of a service. */
    static String required(String name) throws ApiException {
        try {
            return ServiceId.requireName(name);
        } catch (IllegalArgumentException e) {
            throw new ApiException(ApiException.INVALID, String.valueOf(e.getMessage()));
        }
    }
}
