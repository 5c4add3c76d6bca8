package org.tamanoir.node.director;

import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.tamanoir.node.config.AdminConfig;
import org.tamanoir.node.config.Section;
import org.tamanoir.repository.Token;

/** The tokens of a director's configuration file: who has one must not have another by it. One thread. */
final class DirectorTokens {
    private DirectorTokens() {}

    /** Adds a problem for each token that stands in two files. */
    static void requireDifferent(
            Section root, AdminConfig.Tokens admin, @Nullable Path registration, Map<String, Path> nodes) {
        Map<String, Path> files = new LinkedHashMap<>();
        if (admin.change() != null) {
            files.put("admin.token-file", admin.change());
        }
        if (admin.read() != null) {
            files.put("admin.read-token-file", admin.read());
        }
        if (registration != null) {
            files.put("registration.token-file", registration);
        }
        nodes.forEach((name, file) -> files.put("token-file of back-end " + name, file));
        Map<String, Token> seen = new LinkedHashMap<>();
        files.forEach((place, file) -> {
            try {
                Token token = Token.read(file);
                seen.forEach((before, other) -> {
                    if (other.matches(token.authorization())) {
                        root.problems()
                                .add(
                                        root.where(),
                                        place + " holds the same token as " + before
                                                + ": who has one could do what the other allows; make another with "
                                                + "'openssl rand -hex 32'");
                    }
                });
                seen.put(place, token);
            } catch (IOException e) {
                root.problems().add(root.where(), place + ": " + e.getMessage());
            }
        });
    }
}
