package org.tamanoir.node.packages;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.tamanoir.support.Tiers;

/**
 * A root of its own: the host's files beneath a layer in memory, in private namespaces of mounts and processes, so that
 * what is installed there is there alone and gone behind the script.
 */
final class DebRoot {
    private static final List<String> TOOLS = List.of(
            "/usr/bin/dpkg",
            "/usr/bin/groff",
            "/usr/bin/lintian",
            "/usr/bin/man",
            "/usr/bin/systemd-analyze",
            "/usr/bin/systemd-nspawn",
            "/usr/bin/unshare",
            "/usr/bin/zsh");

    private static final String LAYER = """
            set -e
            mount --make-rprivate /
            mount -t tmpfs tmpfs "$1"
            root=$1/root
            mkdir "$1/upper" "$1/work" "$root"
            mount -t overlay overlay -o "lowerdir=/,upperdir=$1/upper,workdir=$1/work" "$root"
            """;
    private static final String COPY = """
            mkdir "$root/deb"
            cp "$2"/*.deb "$root/deb"
            """;
    private static final String CHANGE_ROOT = """
            mount -t tmpfs tmpfs "$root/run"
            mount -t proc proc "$root/proc"
            mount --rbind /dev "$root/dev"
            exec chroot "$root" sh -e
            """;
    /** The script runs as a unit, behind all others, and then ends the machine. */
    private static final String BOOT = """
            cat > "$root/deb/script"
            mount -t tmpfs tmpfs "$root/run"
            chroot "$root" sh -c 'dpkg -i /deb/*.deb >/dev/null 2>&1'
            umount "$root/run"
            cat > "$root/etc/systemd/system/script.service" <<END
            [Unit]
            After=multi-user.target
            [Service]
            Type=oneshot
            ExecStart=/bin/sh -e /deb/script
            ExecStopPost=/bin/systemctl poweroff
            StandardOutput=file:/deb/out
            StandardError=inherit
            TimeoutStartSec=240
            END
            units=$root/etc/systemd/system
            mkdir -p "$units/multi-user.target.wants"
            ln -sf /etc/systemd/system/script.service "$units/multi-user.target.wants"
            ln -sf /lib/systemd/system/multi-user.target "$units/default.target"
            ln -sf /dev/null "$units/systemd-networkd-wait-online.service"
            ln -sf /dev/null "$units/networking.service"
            systemd-nspawn --quiet --register=no --keep-unit --private-network -D "$root" --boot </dev/null \\
                >"$1/console" 2>&1 || true
            cat "$root/deb/out" || cat "$1/console"
            """;

    private final Path folder;
    private final Path packages;

    /**
     * Makes nothing yet; skips the test where there can be no such root.
     *
     * @param packages folder with the package; all of its *.deb are in /deb
     */
    DebRoot(Path folder, Path packages) throws InterruptedException {
        this.folder = folder;
        this.packages = packages;
        String whyNot = whyNot();
        Tiers.require("deb", whyNot.isEmpty(), whyNot);
    }

    private String whyNot() throws InterruptedException {
        List<String> missing = TOOLS.stream()
                .filter(tool -> !Files.isExecutable(Path.of(tool)))
                .toList();
        if (!missing.isEmpty()) {
            return "not installed: " + String.join(", ", missing);
        }
        try {
            Path probe = Files.createTempDirectory(folder, "probe");
            return isolated(LAYER, probe, "");
        } catch (IOException | AssertionError e) {
            return "no overlay of / in a namespace, which takes root: " + e.getMessage();
        }
    }

    /** Runs a script of the shell in the root, and returns what it printed; it must succeed. */
    String run(String... script) throws IOException, InterruptedException {
        return isolated(LAYER + COPY + CHANGE_ROOT, layer(), String.join("\n", script));
    }

    /** Boots systemd in the root, where the package is installed already, and returns what a script printed there. */
    String boot(String... script) throws IOException, InterruptedException {
        return isolated(LAYER + COPY + BOOT, layer(), String.join("\n", script));
    }

    private Path layer() throws IOException {
        return Files.createTempDirectory(folder, "layer");
    }

    private String isolated(String program, Path layer, String input) throws IOException, InterruptedException {
        List<String> command = Stream.of(
                        "unshare --mount --pid --fork --kill-child --mount-proc sh -c".split(" "),
                        new String[] {program, "sh", layer.toString(), packages.toString()})
                .flatMap(Stream::of)
                .toList();
        return Shell.run(input, command);
    }
}
