package org.tamanoir.cluster.setup;

import java.nio.file.Path;
import java.util.List;
import org.tamanoir.cluster.ClusterException;
import org.tamanoir.cluster.DirectorConfig;

/** keepalived's part: which of two directors has the virtual addresses, and that both know the connections. */
public final class Keepalived {
    private Keepalived() {}

    /**
     * The text of keepalived.conf for this director.
     *
     * @param readyUrl of this director's API, which keepalived asks whether it is well; plain http
     */
    public static String config(DirectorConfig config, String readyUrl) throws ClusterException {
        throw new UnsupportedOperationException();
    }

    /** Lets keepalived itself check a file; what it objects to, one line each. */
    public static List<String> check(Path file) throws ClusterException {
        throw new UnsupportedOperationException();
    }
}
