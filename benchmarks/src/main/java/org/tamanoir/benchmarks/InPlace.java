package org.tamanoir.benchmarks;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.ServiceKey;
import org.tamanoir.benchmarks.netns.Shell;

/** Compiles the forwarder in C, which shows what looking at each packet costs at least. Stateless; any thread. */
final class InPlace {
    private static final String SOURCE = "in-place.c";

    private InPlace() {}

    /** Returns why the program cannot be compiled here; null when it can. */
    static @Nullable String missing() {
        return Peers.missing(compiler(), "gcc");
    }

    static String compiler() {
        return Peers.missing("gcc", "gcc") != null && Peers.missing("cc", "gcc") == null ? "cc" : "gcc";
    }

    /**
     * Compiles the program into a folder, and returns it.
     *
     * @param options more of them for the compiler
     * @throws IOException without a compiler, or with its last line if it refuses
     */
    static Path compile(Path folder, String... options) throws IOException {
        return compileSource(SOURCE, folder, options);
    }

    /** Compiles a source that lies beside this class, likewise. */
    static Path compileSource(String name, Path folder, String... options) throws IOException {
        String missing = missing();
        if (missing != null) {
            throw new IOException(missing);
        }
        Path source = folder.resolve(name);
        try (InputStream text = InPlace.class.getResourceAsStream(name)) {
            if (text == null) {
                throw new IOException(name + " is not in this jar");
            }
            Files.copy(text, source, StandardCopyOption.REPLACE_EXISTING);
        }
        Path program = folder.resolve(name.replace(".c", ""));
        List<String> command = new ArrayList<>(List.of(compiler(), "-O3", "-Wall", "-Wextra", "-pthread"));
        command.addAll(List.of("-o", program.toString(), source.toString()));
        command.addAll(List.of(options)); // libraries stand behind what needs them
        Shell.run(command);
        return program;
    }

    /** Returns the forwarder, compiled into this folder; where that is impossible it says why it is missing. */
    static Forwarder forwarder(Path folder) {
        String program = "";
        String missing = null;
        try {
            program = compile(folder).toString();
        } catch (IOException e) {
            missing = e.getMessage();
        }
        String compiled = program;
        return new Forwarder(
                "C in place",
                EnumSet.allOf(Transport.class),
                Peers.firstLine(compiler(), "--version")
                        + " -O3; checks each packet's service; a thread a stream, 256 KiB; recvmmsg, GRO, GSO",
                missing,
                (port, sinkPort, transport, own) -> command(compiled, port, sinkPort, transport));
    }

    /** Returns how the compiled program is started. */
    static List<String> command(String program, int port, int sinkPort, Transport transport) {
        return List.of(
                program,
                transport.name().toLowerCase(Locale.ROOT),
                Integer.toString(port),
                Integer.toString(sinkPort),
                "%016x".formatted(ServiceKey.of(Load.SERVICE)));
    }
}
