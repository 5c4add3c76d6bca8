package org.tamanoir.node.run;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.stream.Stream;
import org.tamanoir.services.extra.fec.Fec;

/** The jar of the services that nodes fetch: the one that was built, else one with the classes that will be in it. */
final class ExtraJar {
    private static final List<String> CONTENT = List.of(
            "org/tamanoir/services/extra/",
            "org/tamanoir/services/NextService.class",
            "org/tamanoir/services/AddressPrefix.class",
            "com/github/benmanes/");

    private ExtraJar() {}

    static Path in(Path folder) throws Exception {
        Path source = Path.of(
                Fec.class.getProtectionDomain().getCodeSource().getLocation().toURI());
        return Files.isDirectory(source) ? pack(source, folder.resolve("extra.jar")) : source;
    }

    private static Path pack(Path classes, Path jar) throws IOException {
        try (OutputStream out = Files.newOutputStream(jar);
                JarOutputStream packed = new JarOutputStream(out);
                Stream<Path> files = Files.walk(classes)) {
            for (Path file : files.filter(Files::isRegularFile).sorted().toList()) {
                String entry = classes.relativize(file).toString();
                if (CONTENT.stream().anyMatch(entry::startsWith)) {
                    packed.putNextEntry(new JarEntry(entry));
                    packed.write(Files.readAllBytes(file));
                }
            }
        }
        return jar;
    }
}
