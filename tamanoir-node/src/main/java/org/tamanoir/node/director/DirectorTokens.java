package org.tamanoir.node.director;

import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.tamanoir.node.config.AdminConfig;
import org.tamanoir.node.config.Section;

/** The tokens of a director's configuration file: who has one must not have another by it. One thread. */
final class DirectorTokens {
    private DirectorTokens() {}

    /** Adds a problem for each token that stands in two files. */
    static void requireDifferent(
            Section root, AdminConfig.Tokens admin, @Nullable Path registration, Map<String, Path> nodes) {
        Map<String, Path> files = new LinkedHashMap<>(admin.files());
        if (registration != null) {
            files.put("registration.token-file", registration);
        }
        nodes.forEach((name, file) -> files.put("token-file of back-end " + name, file));
        AdminConfig.Tokens.requireDifferent(files, same -> root.problems().add(root.where(), same));
    }
}
