package org.tamanoir.node.admin;

import java.util.List;
import org.tamanoir.manager.ActiveNodeManager;
import org.tamanoir.manager.ServiceStatus;

/** All figures of a node. Any thread may call. */
final class NodeMetrics {
    private NodeMetrics() {}

    static void add(Figures figures, ActiveNodeManager manager) {
        NodeFigures.add(figures, manager);
        List<ServiceStatus> services = manager.services();
        ServiceFigures.add(figures, services);
        LevelFigures.add(figures, manager.environment().levels(), services);
        QosFigures.add(figures, manager.qosStatus());
    }
}
