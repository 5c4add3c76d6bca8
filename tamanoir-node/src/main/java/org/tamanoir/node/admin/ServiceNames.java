package org.tamanoir.node.admin;

import java.util.Set;
import java.util.TreeSet;
import org.tamanoir.manager.ActiveNodeManager;
import org.tamanoir.manager.ServiceStatus;

/** Names of services as operators type them. Any thread may call. */
final class ServiceNames {
    private ServiceNames() {}

    /**
     * Returns the full name of the service in the path, of which the end is enough where one service alone on this node
     * fits: {@code Monitor}. A name that fits none stays as it is.
     */
    static String full(ActiveNodeManager manager, Call call) throws ApiException {
        String name = call.serviceName();
        Set<String> fitting = new TreeSet<>();
        for (ServiceStatus service : manager.services()) {
            if (service.name().equals(name)) {
                return name;
            }
            if (service.name().endsWith("." + name)) {
                fitting.add(service.name());
            }
        }
        if (fitting.size() > 1) {
            throw new ApiException(
                    ApiException.CONFLICT,
                    "service " + name + " can be " + String.join(", ", fitting) + ": give the full name");
        }
        return fitting.isEmpty() ? name : fitting.iterator().next();
    }
}
