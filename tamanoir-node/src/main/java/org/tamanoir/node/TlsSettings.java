package org.tamanoir.node;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.tamanoir.tls.TlsFiles;

/** The section {@code tls} while it is put together: what the node shows and believes. One thread. */
final class TlsSettings {
    @Nullable
    Path certificate;

    @Nullable
    Path key;

    @Nullable
    Path trust;

    boolean requireClient;
    private String where = "tls";

    void read(Section tls) {
        tls.allow("certificate", "key", "trust", "require-client");
        certificate = tls.value("certificate", Path::of);
        key = tls.value("key", Path::of);
        trust = tls.value("trust", Path::of);
        requireClient = tls.value("require-client", false, Choice::flag);
        for (String name : new String[] {"certificate", "key", "trust", "require-client"}) {
            if (tls.has(name)) {
                where = tls.where(name);
                return;
            }
        }
    }

    /** Null when nothing was said. */
    @Nullable
    TlsFiles files() {
        return certificate == null && key == null && trust == null && !requireClient
                ? null
                : new TlsFiles(certificate, key, trust, requireClient);
    }

    /** Reads the files, and looks at the addresses that need them. */
    void check(List<InetSocketAddress> tcp, List<InetSocketAddress> tls, Problems problems) {
        TlsFiles files = files();
        if (files != null) {
            try {
                files.context();
            } catch (IOException e) {
                problems.add(where, String.valueOf(e.getMessage()));
            }
        }
        if (!tls.isEmpty() && certificate == null) {
            problems.add(
                    "listen.tls",
                    "a server must show a certificate; name files of a certificate and its key under tls, or with "
                            + "--tls-cert and --tls-key");
        }
        for (InetSocketAddress address : tls) {
            if (address.getPort() != 0 && tcp.contains(address)) {
                problems.add(
                        "listen.tls",
                        Endpoint.toString(address) + " is in tcp too, and one address is plain or TLS; remove one");
            }
        }
    }
}
