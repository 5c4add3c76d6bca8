package org.tamanoir.sim;

import java.lang.reflect.Proxy;
import org.tamanoir.service.Service;
import org.tamanoir.service.ServiceHost;

/** Ends the threads of services that were made and that nobody wanted any more. */
final class SimServices {
    private SimServices() {}

    static void letGo(Service service) {
        if (service.isAlive()) {
            try {
                service.attach((ServiceHost) Proxy.newProxyInstance(
                        ServiceHost.class.getClassLoader(),
                        new Class<?>[] {ServiceHost.class},
                        (proxy, method, arguments) -> null));
                service.join(40_000);
            } catch (IllegalStateException | InterruptedException e) {
                // It has a host.
            }
        }
    }
}
