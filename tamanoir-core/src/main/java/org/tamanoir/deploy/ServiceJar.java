package org.tamanoir.deploy;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.jar.Attributes;
import java.util.jar.JarFile;
import org.jspecify.annotations.Nullable;

/**
 * What a jar holds, found without running any of it. Classes for later versions of Java ({@code META-INF/versions})
 * do not count: a node uses those of the first one.
 *
 * @param sha256 of the file, 64 hexadecimal digits
 * @param octets size of the file
 * @param services its public classes that extend {@code Service} and have a public constructor without arguments, by
 *     name
 * @param mainClass the one that its attribute {@code Tamanoir-Service} names, else the only one; null = several
 * @param version its attribute {@code Implementation-Version}; null = none
 * @param description its attribute {@code Tamanoir-Description}; empty = none
 */
public record ServiceJar(
        String sha256,
        long octets,
        List<String> services,
        @Nullable String mainClass,
        @Nullable String version,
        String description) {
    private static final int MAX_MANIFEST_OCTETS = 256 * 1024;
    private static final String SERVICE = "org/tamanoir/service/Service";
    private static final Attributes.Name MAIN = new Attributes.Name("Tamanoir-Service");
    private static final Attributes.Name DESCRIPTION = new Attributes.Name("Tamanoir-Description");

    /**
     * Reads a jar, and unpacks all of it in small pieces to count what it really holds.
     *
     * @param maxUnpackedOctets the most that all its entries together may unpack to
     * @throws CodeRefusedException {@link Refusal#TOO_LARGE}, {@link Refusal#MALFORMED} or
     *     {@link Refusal#NOT_A_SERVICE}
     */
    public static ServiceJar inspect(Path jar, long maxUnpackedOctets) throws CodeRefusedException {
        String label = "jar " + OneLine.quoted(String.valueOf(jar.getFileName()));
        return inspect(read(jar, label), label, maxUnpackedOctets);
    }

    static ServiceJar inspect(byte[] octets, String label, long maxUnpackedOctets) throws CodeRefusedException {
        JarImage image = JarImage.of(octets, label, maxUnpackedOctets);
        try {
            List<String> services = services(classes(image, label));
            Attributes attributes = attributes(image);
            String wanted = attributes.getValue(MAIN);
            if (services.isEmpty() || wanted != null && !services.contains(wanted)) {
                throw new CodeRefusedException(
                        Refusal.NOT_A_SERVICE,
                        label + " has no service" + (wanted == null ? "" : " " + OneLine.quoted(wanted))
                                + ": a public class is wanted that extends org.tamanoir.service.Service and has a "
                                + "public constructor without arguments; it has " + services);
            }
            String description = attributes.getValue(DESCRIPTION);
            return new ServiceJar(
                    Sha256.hex(octets),
                    octets.length,
                    services,
                    wanted != null ? wanted : services.size() == 1 ? services.get(0) : null,
                    attributes.getValue(Attributes.Name.IMPLEMENTATION_VERSION),
                    description == null ? "" : description);
        } catch (JarImage.TooLarge e) {
            throw new CodeRefusedException(Refusal.TOO_LARGE, label + ": " + e.getMessage());
        } catch (IOException e) {
            throw malformed(label, e.getMessage() + "; pack it again");
        }
    }

    /**
     * Checks a jar that was downloaded, as {@link #inspect} does.
     *
     * @throws CodeRefusedException like {@link #inspect}
     */
    public static void check(Path jar, long maxUnpackedOctets) throws CodeRefusedException {
        inspect(jar, maxUnpackedOctets);
    }

    private static byte[] read(Path jar, String label) throws CodeRefusedException {
        try {
            byte[] octets = JarImage.read(jar, Manifest.MAX_JAR_OCTETS);
            if (octets == null) {
                throw new CodeRefusedException(
                        Refusal.TOO_LARGE,
                        label + " has more than " + Manifest.MAX_JAR_OCTETS + " octets; make it smaller");
            }
            return octets;
        } catch (IOException e) {
            throw malformed(label, e + "; correct the path, or its permissions");
        }
    }

    private static CodeRefusedException malformed(String label, String what) {
        return new CodeRefusedException(Refusal.MALFORMED, label + " cannot be read: " + what);
    }

    /** Class files by class name with slashes, where the loader would look for them. */
    private static Map<String, ClassFile> classes(JarImage image, String label)
            throws IOException, CodeRefusedException {
        Map<String, ClassFile> classes = new HashMap<>();
        for (JarImage.Entry entry : image.entries().values()) {
            String name = entry.name();
            if (!name.endsWith(".class") || name.startsWith("META-INF/") || name.endsWith("module-info.class")) {
                image.unpack(entry, OutputStream.nullOutputStream());
                continue;
            }
            ClassFile file = classFile(image, name);
            if (file.major() > ClassFile.MAX_MAJOR) {
                throw new CodeRefusedException(
                        Refusal.NOT_A_SERVICE,
                        label + ": " + OneLine.quoted(name) + " has class file version " + file.major()
                                + ", and this Java reads up to " + ClassFile.MAX_MAJOR + "; compile it with --release "
                                + Runtime.version().feature());
            }
            if (name.equals(file.name() + ".class")) {
                classes.put(file.name(), file);
            }
        }
        return classes;
    }

    private static ClassFile classFile(JarImage image, String name) throws IOException {
        byte[] octets = image.unpack(name);
        try {
            return ClassFile.read(octets == null ? new byte[0] : octets);
        } catch (IOException e) {
            throw new IOException("class file " + OneLine.quoted(name) + ": " + e.getMessage(), e);
        }
    }

    private static List<String> services(Map<String, ClassFile> classes) {
        List<String> services = new ArrayList<>();
        Map<String, Boolean> known = new HashMap<>();
        for (ClassFile file : new TreeMap<>(classes).values()) {
            String name = file.name().replace('/', '.');
            boolean usable = file.isConcrete() && file.hasPublicConstructor() && !ServiceClassLoader.isOfNode(name);
            if (usable && extendsService(file, classes, known)) {
                services.add(name);
            }
        }
        return List.copyOf(services);
    }

    /**
     * Follows superclasses inside the jar; those of a circle are no service.
     *
     * @param known answers so far, so that each class is passed once
     */
    private static boolean extendsService(ClassFile file, Map<String, ClassFile> classes, Map<String, Boolean> known) {
        List<String> passed = new ArrayList<>();
        ClassFile at = file;
        Boolean answer = known.get(at.name());
        while (answer == null) {
            passed.add(at.name());
            known.put(at.name(), false);
            String above = at.superName();
            ClassFile next = above == null ? null : classes.get(above);
            if (SERVICE.equals(above) || next == null) {
                answer = SERVICE.equals(above);
            } else {
                answer = known.get(next.name());
                at = next;
            }
        }
        for (String name : passed) {
            known.put(name, answer);
        }
        return answer;
    }

    private static Attributes attributes(JarImage image) throws IOException {
        JarImage.Entry entry = image.entries().get(JarFile.MANIFEST_NAME);
        if (entry == null) {
            return new Attributes();
        }
        byte[] octets = entry.unpackedOctets() > MAX_MANIFEST_OCTETS ? null : image.unpack(entry.name());
        if (octets == null) {
            throw new JarImage.TooLarge(
                    JarFile.MANIFEST_NAME + " has more than " + MAX_MANIFEST_OCTETS + " octets; make it smaller");
        }
        return new java.util.jar.Manifest(new ByteArrayInputStream(octets)).getMainAttributes();
    }
}
