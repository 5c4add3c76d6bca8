package org.tamanoir.catalog;

import org.tamanoir.anep.Packet;
import org.tamanoir.service.FailurePolicy;
import org.tamanoir.service.Service;
import org.tamanoir.service.ServiceConfig;
import org.tamanoir.service.Verdict;

/** Serves streams that ask for no service, or for one that the node lacks: packets go on as they are. */
public final class Transit extends Service {
    public static final ServiceDefinition DEFINITION =
            new ServiceDefinition("transit", Transit::new, ServiceConfig.EMPTY, FailurePolicy.DROP);

    @Override
    public Verdict process(Packet packet) {
        return Verdict.FORWARD;
    }
}
