package org.tamanoir.kernel;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a node of an instance put into the calling thread's network namespace, and could not take away because it was
 * killed. The netfilter module and XDP links need nothing: what a process has there ends with it.
 *
 * <p>Thread contract: the thread that holds the instance's {@link InstanceLock}.
 */
final class LeftBehind {
    private static final Logger LOG = LoggerFactory.getLogger(LeftBehind.class);

    private LeftBehind() {}

    /** Removes it: programs first, so that no packet is marked for a way up that is gone. */
    static void remove(int instance) {
        int removed = 0;
        try {
            removed += TcDriver.removeLeftBehind(instance);
            try (WayUp wayUp = WayUp.open()) {
                removed += wayUp.remove(instance);
            }
        } catch (NetlinkException refused) {
            LOG.warn("levels: what instance {} left behind stays: {}", instance, refused.getMessage());
        }
        if (removed > 0) {
            LOG.info("levels: removed {} things that a node left behind, instance {}", removed, instance);
        }
    }
}
