package org.tamanoir.kernel.guest;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.tamanoir.support.Tiers;

/** {@code native/build.sh} on small sources of its own: what it builds, leaves out, and does not let pass. */
@Tag("once")
@Tag("process")
class NativeBuildTest {
    private static final Path NATIVE = Path.of("..", "native");
    private static final int LIMIT_S = 120;

    private static final String PROGRAM = """
            #include <linux/bpf.h>
            #include <bpf/bpf_helpers.h>
            #include "tamanoir_abi.h"
            SEC("tc") int program(struct __sk_buff *skb) { return skb->len > TMN_ABI_VERSION; }
            """;
    private static final String MODULE = """
            #include <linux/module.h>
            #include "tamanoir_abi.h"
            MODULE_LICENSE("GPL");
            """;
    private static final String MAKEFILE = "obj-m := tamanoir.o\nccflags-y := -I$(src)/../include -Werror\n";

    /** What the script needs beside compilers. */
    private static final List<String> PLAIN_TOOLS = List.of(
            "bash",
            "basename",
            "cat",
            "cp",
            "dirname",
            "mkdir",
            "mv",
            "rm",
            "sed",
            "sha256sum",
            "sort",
            "tail",
            "uname");

    /** What each run said, and how it ended. */
    private record Run(int status, String said) {}

    @TempDir
    private Path folder;

    @BeforeEach
    void copy() throws IOException {
        Tiers.require("native-build", Files.isExecutable(Path.of("/bin/bash")), "no bash");
        for (String name : List.of("build.sh", "headers", "include/tamanoir_abi.h")) {
            Path to = folder.resolve(name);
            Files.createDirectories(to.getParent());
            Files.copy(NATIVE.resolve(name), to, StandardCopyOption.COPY_ATTRIBUTES);
        }
        write("bpf/small.bpf.c", PROGRAM);
        write("module/tamanoir.c", MODULE);
        write("module/Makefile", MAKEFILE);
        write("test/small.c", "int main(void) { return 0; }\n");
    }

    @Test
    void buildsAllOnceAndAgainWhatHasChanged() throws Exception {
        requireTools();
        Run first = build(Map.of());
        assertThat(first.status).as(first.said).isZero();
        Path program = folder.resolve("out/bpf/small.bpf.o");
        Path module = folder.resolve("out/module/tamanoir.ko");
        assertThat(program).isRegularFile();
        assertThat(module).isRegularFile();
        assertThat(folder.resolve("out/test/small")).isExecutable();

        FileTime built = Files.getLastModifiedTime(module);
        Run second = build(Map.of());
        assertThat(second).isEqualTo(new Run(0, ""));
        assertThat(Files.getLastModifiedTime(module)).isEqualTo(built);

        write("bpf/small.bpf.c", PROGRAM + "char text[] SEC(\"license\") = \"GPL\";\n");
        Run third = build(Map.of());
        assertThat(third.said.strip()).isEqualTo("native: bpf/small.bpf.c");
    }

    @Test
    void failsWhereACompilerThatIsThereFails() throws Exception {
        requireTools();
        write("bpf/small.bpf.c", PROGRAM + "int unused(int x) { return y; }\n");
        Run program = build(Map.of());
        assertThat(program.status).isNotZero();
        assertThat(program.said).contains("small.bpf.c").contains("error:");
        assertThat(folder.resolve("out/bpf/small.bpf.o")).doesNotExist();

        write("bpf/small.bpf.c", PROGRAM);
        write("module/tamanoir.c", MODULE + "static int unused;\n"); // -Werror makes a warning one
        assertThat(build(Map.of()).status).isNotZero();
    }

    @Test
    void saysWhatToInstallWhereToolsAreMissing() throws Exception {
        Path tools = Files.createDirectory(folder.resolve("tools"));
        for (String tool : PLAIN_TOOLS) {
            Path real = Path.of("/usr/bin", tool);
            Tiers.require("native-build", Files.exists(real), "no " + real);
            Files.createSymbolicLink(tools.resolve(tool), real);
        }
        Run run = build(Map.of("PATH", tools.toString()));
        assertThat(run.status).as(run.said).isZero();
        assertThat(run.said)
                .contains("SKIPPED: no clang: BPF programs are not built; install the package clang")
                .contains("SKIPPED: no C compiler: programs of tests are not built; install the package gcc")
                .containsPattern("SKIPPED: no (make|kernel headers): the module is not built; install the package ");
    }

    @Test
    void saysWhatToInstallWhereThereAreNoKernelHeaders() throws Exception {
        Run hidden = run(
                Map.of(),
                "unshare",
                "--user",
                "--map-root-user",
                "--mount",
                "bash",
                "-c",
                "mount -t tmpfs tmpfs /usr/src && { [ ! -d /lib/modules ] || mount -t tmpfs tmpfs /lib/modules; }"
                        + " && exec ./build.sh out");
        Tiers.require(
                "namespace",
                !hidden.said.contains("unshare") && !hidden.said.contains("mount:"),
                "no mount namespace: " + hidden.said.strip());
        assertThat(hidden.status).as(hidden.said).isZero();
        assertThat(hidden.said)
                .contains(
                        "SKIPPED: no kernel headers: the module is not built; install the package linux-headers-amd64");
    }

    private static void requireTools() throws Exception {
        Path said = Files.createTempFile("tools", "");
        Process probe = new ProcessBuilder("bash", "-c", "command -v clang llvm-strip make gcc && ../native/headers")
                .redirectErrorStream(true)
                .redirectOutput(said.toFile())
                .start();
        boolean works = probe.waitFor(LIMIT_S, TimeUnit.SECONDS)
                && probe.exitValue() == 0
                && Files.readString(said).lines().count() >= 5
                && Files.exists(Path.of("/usr/include/bpf/bpf_helpers.h"));
        Files.delete(said);
        Tiers.require("native-build", works, "install the packages clang llvm make gcc libbpf-dev linux-headers-amd64");
    }

    private Run build(Map<String, String> environment) throws IOException, InterruptedException {
        return run(environment, "/bin/bash", "./build.sh", "out");
    }

    private Run run(Map<String, String> environment, String... command) throws IOException, InterruptedException {
        Path said = folder.resolve("said");
        ProcessBuilder builder = new ProcessBuilder(command)
                .directory(folder.toFile())
                .redirectErrorStream(true)
                .redirectOutput(said.toFile());
        builder.environment().remove("KDIR");
        builder.environment().putAll(environment);
        Process process = builder.start();
        try {
            assertThat(process.waitFor(LIMIT_S, TimeUnit.SECONDS)).isTrue();
            return new Run(process.exitValue(), Files.readString(said));
        } finally {
            process.destroyForcibly();
        }
    }

    private void write(String name, String text) throws IOException {
        Path file = folder.resolve(name);
        Files.createDirectories(file.getParent());
        Files.writeString(file, text);
    }
}
