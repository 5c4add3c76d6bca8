package org.tamanoir.node.director;

import java.io.IOException;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.tamanoir.cluster.lvs.ClusterException;
import org.tamanoir.cluster.setup.Keepalived;
import org.tamanoir.node.cli.CommandException;
import org.tamanoir.node.cli.ExitCode;
import org.tamanoir.node.cli.Output;
import org.tamanoir.node.config.Endpoint;

/** {@code director keepalived}: the configuration that keepalived needs for two directors. */
final class DirectorKeepalived {
    private DirectorKeepalived() {}

    /**
     * Writes it, or prints it, if keepalived has nothing against it.
     *
     * @param target null = standard output
     */
    static int run(DirectorSettings settings, @Nullable Path target, Output output) {
        if (settings.director().vrrp() == null) {
            throw new CommandException(
                    ExitCode.USAGE,
                    "the file has no section vrrp: this director is alone, and needs no keepalived",
                    null);
        }
        Path draft = null;
        try {
            String text = Keepalived.config(settings.director(), readyUrl(settings));
            draft = draft(target);
            Files.writeString(draft, text, StandardCharsets.UTF_8);
            List<String> objections = check(draft, output);
            if (!objections.isEmpty()) {
                throw new CommandException(
                        ExitCode.FAILED, "keepalived objects to its configuration", null, objections);
            }
            if (target != null) {
                Files.move(draft, target, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
            }
            tell(text, target, output);
            return ExitCode.OK;
        } catch (ClusterException e) {
            throw new CommandException(ExitCode.FAILED, e);
        } catch (IOException e) {
            throw new CommandException(
                    ExitCode.FAILED,
                    "cannot write " + (target == null ? "a draft of the file" : target)
                            + ": no such folder, or no permission; choose another with --output",
                    e);
        } finally {
            delete(draft);
        }
    }

    /** Beside the target, so that it can take its place in one step; the password in it is for its owner alone. */
    private static Path draft(@Nullable Path target) throws IOException {
        var owner = PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));
        Path folder = target == null ? null : target.toAbsolutePath().getParent();
        return folder == null
                ? Files.createTempFile("keepalived", ".conf", owner)
                : Files.createTempFile(folder, "keepalived", ".conf", owner);
    }

    private static List<String> check(Path draft, Output output) {
        try {
            return Keepalived.check(draft);
        } catch (ClusterException e) {
            output.message("not checked: " + e.getMessage());
            return List.of();
        }
    }

    private static void tell(String text, @Nullable Path target, Output output) {
        Map<String, @Nullable Object> event = new LinkedHashMap<>();
        event.put("file", target == null ? null : target.toString());
        event.put("config", target == null ? text : null);
        output.json(event);
        if (target == null) {
            text.lines().forEach(output::line);
        } else {
            output.line(target + " written; 'systemctl reload keepalived' puts it to work");
        }
    }

    private static void delete(@Nullable Path draft) {
        try {
            if (draft != null) {
                Files.deleteIfExists(draft);
            }
        } catch (IOException e) {
            // It is in the folder for such files, or was moved.
        }
    }

    /** keepalived asks on the same host, and speaks no TLS. */
    private static String readyUrl(DirectorSettings settings) {
        InetSocketAddress asked = settings.ready() != null
                ? settings.ready()
                : settings.admin().tls() ? null : settings.admin().listen();
        if (asked == null || asked.getPort() == 0) {
            throw new CommandException(
                    ExitCode.USAGE,
                    "keepalived asks whether the director is well by plain http, at a port that it knows: add "
                            + "ready: 127.0.0.1:3326 to the section admin",
                    null);
        }
        InetAddress address = asked.getAddress();
        String loopback = address instanceof Inet6Address ? "[::1]:" : "127.0.0.1:";
        return "http://" + (address.isAnyLocalAddress() ? loopback + asked.getPort() : Endpoint.toString(asked))
                + "/ready";
    }
}
