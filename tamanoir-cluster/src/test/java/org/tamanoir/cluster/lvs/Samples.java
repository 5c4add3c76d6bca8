package org.tamanoir.cluster.lvs;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Objects;

/** What Debian's ipvsadm 1.31 printed on Linux 6.1, with traffic. */
final class Samples {
    private Samples() {}

    static String read(String name) throws IOException {
        try (InputStream from = Objects.requireNonNull(Samples.class.getResourceAsStream(name), name)) {
            return new String(from.readAllBytes(), StandardCharsets.UTF_8);
        }
    }
}
