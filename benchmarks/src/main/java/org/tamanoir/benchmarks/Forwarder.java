package org.tamanoir.benchmarks;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Something that takes packets on one port of 127.0.0.1 and sends them on to another.
 *
 * @param name as it stands in the tables
 * @param carries what it can forward
 * @param version what ran, for the report
 * @param missing why it cannot run here and what would help; null when it can
 * @param command how it is started; null when sender and sink meet without it
 */
record Forwarder(
        String name,
        Set<Transport> carries,
        String version,
        @Nullable String missing,
        @Nullable Command command) {

    /** Makes the command line, and the configuration that it names. */
    interface Command {
        /**
         * @param port where packets come in
         * @param sinkPort where they go
         * @param folder for a configuration
         */
        List<String> line(int port, int sinkPort, Transport transport, Path folder) throws IOException;
    }

    /** Whether this is the load alone. */
    boolean isDirect() {
        return command == null;
    }
}
