package org.tamanoir.benchmarks;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.tamanoir.deploy.ServiceLimits;
import org.tamanoir.deploy.SigningKey;
import org.tamanoir.repository.Publisher;
import org.tamanoir.service.Service;

/** Packs a service of this program into a jar, as its author would, and publishes it. Stateless. */
public final class PackedService {
    private static final long MAX_UNPACKED_BYTES = 64L << 20;
    private static final int HEADERS_BYTES = 600;

    private PackedService() {}

    /**
     * Publishes version 1.0 of a service under a name of its own.
     *
     * @param type its class; those of its package that it names go into the jar too
     * @param name by which its content differs from that of other names
     * @param bytes of the jar, about, if its classes are smaller
     */
    public static void publish(
            Publisher publisher, SigningKey key, Path folder, Class<? extends Service> type, String name, int bytes)
            throws Exception {
        Path jar = folder.resolve("service.jar");
        write(jar, type, name, bytes);
        Publisher.Description description =
                new Publisher.Description(type.getName(), name, "1.0", "", ServiceLimits.NONE);
        publisher.publish(jar, Publisher.describe(jar, description, MAX_UNPACKED_BYTES), key);
        Files.delete(jar);
    }

    static void write(Path jar, Class<?> type, String name, int bytes) throws IOException {
        Map<String, byte[]> classes = new TreeMap<>();
        collect(type, type.getName().replace('.', '/'), classes);
        try (JarOutputStream out = new JarOutputStream(Files.newOutputStream(jar))) {
            int packed = HEADERS_BYTES;
            for (Map.Entry<String, byte[]> each : classes.entrySet()) {
                out.putNextEntry(new JarEntry(each.getKey() + ".class"));
                out.write(each.getValue());
                packed += each.getValue().length / 2;
            }
            byte[] rest = new byte[Math.max(0, bytes - packed)];
            new Random(name.hashCode()).nextBytes(rest); // does not compress
            out.putNextEntry(new JarEntry(name));
            out.write(rest);
        }
    }

    /** Takes a class, and those of its package that its file names. */
    private static void collect(Class<?> type, String path, Map<String, byte[]> into) throws IOException {
        try (InputStream in = type.getResourceAsStream("/" + path + ".class")) {
            if (in == null || into.containsKey(path)) {
                return; // a text of the file that looks like a class's name
            }
            into.put(path, in.readAllBytes());
        }
        Pattern beside = Pattern.compile(Pattern.quote(type.getPackageName().replace('.', '/')) + "/[A-Za-z0-9_$]+");
        Matcher named = beside.matcher(new String(into.getOrDefault(path, new byte[0]), StandardCharsets.ISO_8859_1));
        while (named.find()) {
            collect(type, named.group(), into);
        }
    }
}
