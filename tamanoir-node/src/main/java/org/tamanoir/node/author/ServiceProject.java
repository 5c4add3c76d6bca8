package org.tamanoir.node.author;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import javax.lang.model.SourceVersion;
import org.jspecify.annotations.Nullable;
import org.tamanoir.deploy.ServiceId;
import org.tamanoir.platform.Causes;

/**
 * The files of a Maven project for a new service, made from templates in which {@code @WORD@} stands for what
 * differs. A line of a template that begins with {@code @api@} or {@code @jar@} is written only if the project builds
 * against the API, or the node's jar.
 *
 * <p>Thread contract: one thread.
 */
final class ServiceProject {
    private static final String TEMPLATES = "newservice/";

    /** Class names that the templates use for something else. */
    private static final Set<String> TAKEN = Set.of(
            "ByteBuffer",
            "Packet",
            "Counter",
            "Service",
            "ServiceConfig",
            "ServiceHarness",
            "Verdict",
            "Transport",
            "List",
            "Map",
            "Test",
            "ParameterizedTest",
            "EnumSource",
            "Override",
            "String",
            "AssertionError");

    private final String className;
    private final String packageName;
    private final String simpleName;

    /**
     * @param className {@code org.example.Foo}
     * @throws IllegalArgumentException in one line, if no service can have this name
     */
    ServiceProject(String className) {
        this.className = ServiceId.requireName(className);
        int dot = className.lastIndexOf('.');
        if (dot < 0) {
            throw new IllegalArgumentException("service name '" + className
                    + "': it has no package, and a name without a dot means one of org.tamanoir.services; take one "
                    + "such as org.example." + className);
        }
        this.packageName = className.substring(0, dot);
        this.simpleName = className.substring(dot + 1);
        if (!SourceVersion.isName(className, SourceVersion.RELEASE_17)) {
            throw new IllegalArgumentException(
                    "service name '" + className + "': a part of it is a keyword of Java; take another");
        }
        for (String owned : List.of("java", "javax", "jdk", "sun", "org.tamanoir")) {
            if (packageName.equals(owned) || packageName.startsWith(owned + ".")) {
                throw new IllegalArgumentException("service name '" + className + "': the packages " + owned
                        + ".* are not yours; take one such as org.example." + simpleName);
            }
        }
        if (TAKEN.contains(simpleName)) {
            throw new IllegalArgumentException("service name '" + className + "': services use a class named "
                    + simpleName + "; take another, such as " + className + "Service");
        }
    }

    /** {@code foo-bar} for {@code FooBar}. */
    String artifact() {
        return simpleName
                .replaceAll("(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "-")
                .toLowerCase(Locale.ROOT);
    }

    /**
     * Writes the project.
     *
     * @param folder is made; must be empty if it is there
     * @param jar of the node, which the project is built against where there is no API
     * @param apiVersion of {@code tamanoir-service-api}, which the project is built against; null = against the jar
     * @return the files written, relative to the folder
     * @throws IOException in one line, with the file
     */
    List<Path> writeTo(Path folder, Path jar, @Nullable String apiVersion) throws IOException {
        requireEmpty(folder);
        Map<Path, String> files = files(jar, apiVersion);
        for (Map.Entry<Path, String> file : files.entrySet()) {
            Path path = folder.resolve(file.getKey());
            try {
                Files.createDirectories(path.toAbsolutePath().getParent());
                Files.writeString(path, file.getValue(), StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
            } catch (FileSystemException e) {
                throw e;
            } catch (IOException e) {
                throw new IOException("cannot write " + path + ": " + Causes.text(e), e);
            }
        }
        return List.copyOf(files.keySet());
    }

    private static void requireEmpty(Path folder) throws IOException {
        if (Files.isDirectory(folder)) {
            try (Stream<Path> content = Files.list(folder)) {
                if (content.findAny().isPresent()) {
                    throw new IOException(
                            folder + " is not empty, and nothing is overwritten: name another folder " + "with --dir");
                }
            }
        } else if (Files.exists(folder)) {
            throw new IOException(folder + " is a file: name another folder with --dir");
        }
    }

    private Map<Path, String> files(Path jar, @Nullable String apiVersion) throws IOException {
        Path source = Path.of("src/main/java", className.replace('.', '/') + ".java");
        Path test = Path.of("src/test/java", className.replace('.', '/') + "Test.java");
        Map<String, String> words = new LinkedHashMap<>();
        words.put("CLASS", className);
        words.put("PACKAGE", packageName);
        words.put("NAME", simpleName);
        words.put("ARTIFACT", artifact());
        words.put("SOURCE", slashed(source));
        words.put("TEST", slashed(test));
        words.put("JAR", xml(jar.toString()));
        words.put("JAR_SHELL", "'" + jar.toString().replace("'", "'\\''") + "'");
        if (apiVersion != null) {
            words.put("VERSION", xml(apiVersion));
        }
        Map<Path, String> files = new LinkedHashMap<>();
        files.put(Path.of("pom.xml"), filled("pom.xml", words));
        files.put(source, filled("Service.java", words));
        files.put(test, filled("ServiceTest.java", words));
        files.put(Path.of("README.md"), filled("README.md", words));
        files.put(Path.of(".gitignore"), filled("gitignore", words));
        return files;
    }

    private static String slashed(Path path) {
        return path.toString().replace('\\', '/');
    }

    private static String xml(String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
    }

    private static String filled(String template, Map<String, String> words) throws IOException {
        String resource = TEMPLATES + template + ".txt";
        try (InputStream in = ServiceProject.class.getResourceAsStream(resource)) {
            if (in == null) {
                throw new IllegalStateException("the program lacks its file " + resource + ": build it anew");
            }
            boolean isAgainstApi = words.containsKey("VERSION");
            String text = new String(in.readAllBytes(), StandardCharsets.UTF_8)
                    .replaceAll(isAgainstApi ? "(?m)^@jar@.*\\n" : "(?m)^@api@.*\\n", "")
                    .replaceAll("(?m)^@(api|jar)@", "");
            for (Map.Entry<String, String> word : words.entrySet()) {
                text = text.replace("@" + word.getKey() + "@", word.getValue());
            }
            return text;
        }
    }
}
