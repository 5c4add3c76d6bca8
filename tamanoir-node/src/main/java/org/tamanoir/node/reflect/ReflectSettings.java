package org.tamanoir.node.reflect;

import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.tamanoir.cluster.reflect.Reflector;
import org.tamanoir.cluster.reflect.SessionConfig;
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
        return new ReflectSettings(
                sessions, values.get(ReflectTable.ADMIN).orElse(null), values.find(ReflectTable.ADMIN_TOKEN));
    }
}
