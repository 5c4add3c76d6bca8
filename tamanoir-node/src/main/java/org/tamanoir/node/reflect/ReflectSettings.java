package org.tamanoir.node.reflect;

import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.tamanoir.cluster.reflect.Reflector;
import org.tamanoir.cluster.reflect.SessionConfig;
import org.tamanoir.node.config.AdminConfig;
import org.tamanoir.node.config.ConfigFile;
import org.tamanoir.node.config.Problems;
import org.tamanoir.node.config.Section;
import org.tamanoir.node.config.Values;

/**
 * What a reflector's configuration file says.
 *
 * @param admin where its API listens; null = nowhere
 * @param tokenFile what changes need; null = there are none
 */
record ReflectSettings(
        List<SessionConfig> sessions,
        @Nullable InetSocketAddress admin,
        @Nullable Path tokenFile) {

    /** Reads a file; null when there are problems, which are collected. */
    static @Nullable ReflectSettings read(Path file, Problems problems) {
        ReflectSettings[] read = new ReflectSettings[1];
        ConfigFile.read(file, problems, root -> read[0] = root(root));
        return problems.isEmpty() ? read[0] : null;
    }

    /** Returns why the API cannot be there. It has no TLS, so beyond loopback the operator says that it needs none. */
    static Optional<String> whyNotPlain(@Nullable InetSocketAddress admin, boolean isPlainAllowed) {
        return AdminConfig.whyNotPlain(
                admin,
                isPlainAllowed,
                "the reflector's API has none; set admin.plain: allowed or --admin-plain allowed on a network that nobody "
                        + "else is on, or take loopback");
    }

    private static ReflectSettings root(Section root) {
        root.allow("sessions", "admin");
        Values values = new Values();
        values.read(root.section("admin"), ReflectTable.TABLE.settings());
        List<SessionConfig> sessions = new ArrayList<>();
        for (Section section : root.sections("sessions", Reflector.MAX_SESSIONS)) {
            try {
                SessionConfig session = ReflectTable.session(section);
                if (session != null) {
                    sessions.add(session);
                }
            } catch (IllegalArgumentException e) {
                section.problems().add(section.where(), String.valueOf(e.getMessage()));
            }
        }
        if (!root.has("sessions")) {
            root.problems().add(root.where(), "sessions is missing: a reflector has 1 to " + Reflector.MAX_SESSIONS);
        }
        InetSocketAddress admin = values.get(ReflectTable.ADMIN).orElse(null);
        whyNotPlain(admin, values.get(ReflectTable.ADMIN_PLAIN))
                .ifPresent(why -> root.problems().add(root.section("admin").where("listen"), why));
        return new ReflectSettings(sessions, admin, values.find(ReflectTable.ADMIN_TOKEN));
    }
}
