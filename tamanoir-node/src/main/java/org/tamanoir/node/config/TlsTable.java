package org.tamanoir.node.config;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.tamanoir.tls.TlsFiles;

/** The settings of the section {@code tls}: what the process shows and believes. */
public final class TlsTable {
    final Setting<Path> certificate;
    final Setting<Path> key;
    final Setting<Path> trust;
    final Setting<Boolean> requireClient;

    /** Adds the settings to a component's. */
    public TlsTable(Setting.Table table) {
        certificate =
                table.add("tls.certificate", Kind.path("path"), null, "none").option("--tls-cert", "FILE");
        key = table.add("tls.key", Kind.path("path"), null, "none").option("--tls-key", "FILE");
        trust = table.add("tls.trust", Kind.path("path"), null, "the JDK's authorities")
                .option("--tls-trust", "FILE");
        requireClient = table.add("tls.require-client", Kind.flag(), false).flag("--tls-require-client");
    }

    private List<Setting<?>> settings() {
        return List.of(certificate, key, trust, requireClient);
    }

    public void read(Section section, Values values) {
        values.read(section, settings());
    }

    /** The files; null when nothing was said. */
    public @Nullable TlsFiles files(Values values) {
        Path shown = values.find(certificate);
        Path secret = values.find(key);
        Path believed = values.find(trust);
        return shown == null && secret == null && believed == null && !values.get(requireClient)
                ? null
                : new TlsFiles(shown, secret, believed, values.get(requireClient));
    }

    public boolean hasCertificate(Values values) {
        return values.find(certificate) != null;
    }

    /** Reads the files. */
    public void check(Values values, Problems problems) {
        TlsFiles files = files(values);
        if (files != null) {
            try {
                files.context();
            } catch (IOException e) {
                String where = settings().stream()
                        .filter(values::isGiven)
                        .findFirst()
                        .map(values::where)
                        .orElse("tls");
                problems.add(where, String.valueOf(e.getMessage()));
            }
        }
    }
}
