package org.tamanoir.node.author;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.collect.MoreCollectors;
import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.URISyntaxException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.jar.JarOutputStream;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.launcher.core.LauncherConfig;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;
import org.junit.platform.launcher.listeners.TestExecutionSummary;
import org.tamanoir.node.Main;
import org.tamanoir.node.cli.Version;
import org.tamanoir.service.Service;
import org.tamanoir.support.Tiers;

@Tag("process")
class NewServiceCommandTest {
    private static final int MAVEN_PATIENCE_SECONDS = 180;
    private static final Path API = Path.of("..", "tamanoir-core", "service-api", "target");
    private static final String QUICK_START = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC";

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    @TempDir
    Path folder;

    private int run(String... args) {
        List<String> all = new ArrayList<>(List.of("new-service"));
        all.addAll(List.of(args));
        return Main.run(new PrintWriter(out, true), new PrintWriter(err, true), all.toArray(String[]::new));
    }

    /** A file that stands for the node's jar, where nothing is built with it. */
    private String anyJar() throws IOException {
        return Files.write(folder.resolve("node.jar"), new byte[0]).toString();
    }

    @Test
    void writesAProjectWhoseTestsPass() throws Exception {
        Path project = folder.resolve("project");
        assertThat(run("org.example.FooBar", "--dir", project.toString(), "--jar", anyJar()))
                .isZero();
        assertThat(err.toString()).isEmpty();
        assertThat(out.toString().lines())
                .contains("wrote " + project.resolve("src/main/java/org/example/FooBar.java"))
                .endsWith("build and test it: cd " + project + " && mvn package; then see its README.md");

        Path classes = Files.createDirectory(folder.resolve("classes"));
        compile(project, classes);
        TestExecutionSummary summary = test(classes, "org.example.FooBarTest");
        assertThat(summary.getFailures()).isEmpty();
        assertThat(summary.getTestsSucceededCount()).isEqualTo(5);
        for (Path file : files(project)) {
            assertThat(Files.readString(file)).as("%s", file).doesNotContainPattern("@([A-Z]{2,}|api|jar)@");
        }
    }

    private static void compile(Path project, Path classes) throws IOException {
        List<String> arguments = new ArrayList<>(List.of(
                "-d",
                classes.toString(),
                "--release",
                "17",
                "-proc:none",
                "-Xlint:all,-classfile,-options,-path",
                "-Werror"));
        arguments.addAll(List.of("-cp", System.getProperty("java.class.path")));
        files(project).stream()
                .map(Path::toString)
                .filter(file -> file.endsWith(".java"))
                .forEach(arguments::add);
        assertThat(ToolProvider.getSystemJavaCompiler().run(null, null, null, arguments.toArray(String[]::new)))
                .isZero();
    }

    private static TestExecutionSummary test(Path classes, String className) throws Exception {
        SummaryGeneratingListener summary = new SummaryGeneratingListener();
        try (URLClassLoader loader =
                new URLClassLoader(new URL[] {classes.toUri().toURL()}, NewServiceCommandTest.class.getClassLoader())) {
            LauncherFactory.create(LauncherConfig.builder()
                            .enableTestExecutionListenerAutoRegistration(false)
                            .build())
                    .execute(
                            LauncherDiscoveryRequestBuilder.request()
                                    .selectors(DiscoverySelectors.selectClass(loader.loadClass(className)))
                                    .build(),
                            summary);
        }
        return summary.getSummary();
    }

    private static List<Path> files(Path project) throws IOException {
        try (Stream<Path> files = Files.walk(project)) {
            return files.filter(Files::isRegularFile).toList();
        }
    }

    @Test
    void buildsAgainstTheApiOfItsVersionWhereItIsInstalled() throws IOException {
        String name = "tamanoir-service-api-" + Version.number();
        Path repository = folder.resolve("repository");
        Path api = Files.createDirectories(
                repository.resolve(Path.of("org", "tamanoir", "tamanoir-service-api", Version.number())));
        Files.createFile(api.resolve(name + ".pom"));
        String[] half = {"org.example.Foo", "--dir", "half", "--local-repository", repository.toString()};
        assertThat(run(half)).isEqualTo(2); // these classes are in no jar
        assertThat(err.toString()).contains("is no jar to build against");

        Files.createFile(api.resolve(name + ".jar"));
        assertThat(project("whole", "--local-repository", repository.toString()))
                .contains("<artifactId>tamanoir-service-api</artifactId>", "<scope>provided</scope>")
                .contains("<tamanoir.version>" + Version.number() + "</tamanoir.version>")
                .doesNotContain("systemPath", "tamanoir.jar");
        assertThat(out.toString())
                .contains("builds against org.tamanoir:tamanoir-service-api:" + Version.number() + " of " + repository);
        assertThat(project("jar", "--local-repository", repository.toString(), "--jar", anyJar()))
                .contains("<systemPath>");
    }

    /** Makes a project in this folder, built against the classes of this run where it is told nothing else. */
    private String project(String name, String... options) throws IOException {
        List<String> args = new ArrayList<>(
                List.of("org.example.Foo", "--dir", folder.resolve(name).toString()));
        args.addAll(List.of(options));
        assertThat(run(args.toArray(String[]::new))).as(err.toString()).isZero();
        return Files.readString(folder.resolve(name).resolve("pom.xml"));
    }

    /** The artifact that the build installs, in a local repository with it and what the build has, but no Tamanoir. */
    @Tag("once")
    @Test
    @Timeout(MAVEN_PATIENCE_SECONDS + 60)
    void mavenBuildsTheProjectWithTheApiAlone() throws Exception {
        requireMaven();
        String name = nameOfApi();
        String version = name.substring("tamanoir-service-api-".length());
        Path repository = folder.resolve("repository");
        List<Path> links = linkWithoutTamanoir(repository);
        Path api = Files.createDirectories(
                repository.resolve(Path.of("org", "tamanoir", "tamanoir-service-api", version)));
        Files.copy(API.resolve(name + ".jar"), api.resolve(name + ".jar"));
        Files.copy(API.resolve(".flattened-pom.xml"), api.resolve(name + ".pom"));

        Path project = folder.resolve("foo");
        new ServiceProject("org.example.Foo").writeTo(project, Path.of("/nowhere/node.jar"), version);
        maven(project, repository, "package");
        for (Path link : links) {
            Files.delete(link);
        }
        requireFiveTestsPassed(project);
        assertThat(project.resolve("target/foo-1.0.0.jar")).isRegularFile();
    }

    /** One date: two builds give the same bytes. */
    @Test
    void theApiHasThePackagesThatServicesSeeAndOneDate() throws IOException {
        try (JarFile jar = new JarFile(API.resolve(nameOfApi() + ".jar").toFile())) {
            assertThat(jar.stream()
                            .map(JarEntry::getName)
                            .filter(entry -> entry.endsWith(".class"))
                            .map(entry -> entry.substring(0, entry.lastIndexOf('/')))
                            .distinct())
                    .containsExactlyInAnyOrder(
                            "org/tamanoir/service",
                            "org/tamanoir/anep",
                            "org/tamanoir/nodeos",
                            "org/tamanoir/format",
                            "org/tamanoir/message",
                            "org/tamanoir/icmp",
                            "org/tamanoir/rtp",
                            "org/tamanoir/testkit");
            assertThat(jar.stream().map(JarEntry::getTimeLocal).distinct()).hasSize(1);
        }
    }

    private static String nameOfApi() throws IOException {
        Pattern name = Pattern.compile("(tamanoir-service-api-[0-9.]+(-SNAPSHOT)?)\\.jar");
        try (Stream<Path> files = Files.list(API)) {
            return files.map(file -> name.matcher(file.getFileName().toString()))
                    .filter(Matcher::matches)
                    .map(matcher -> matcher.group(1))
                    .collect(MoreCollectors.onlyElement());
        }
    }

    /** Makes a local repository with links to what this build's has, and returns the links. */
    private static List<Path> linkWithoutTamanoir(Path repository) throws IOException {
        Path whole = localRepository();
        Files.createDirectories(repository.resolve("org"));
        List<Path> links = new ArrayList<>();
        for (Path folder : List.of(whole, whole.resolve("org"))) {
            try (Stream<Path> content = Files.list(folder)) {
                for (Path path : content.filter(Files::isDirectory).toList()) {
                    if (!path.endsWith("org") && !path.endsWith("tamanoir")) {
                        links.add(Files.createSymbolicLink(repository.resolve(whole.relativize(path)), path));
                    }
                }
            }
        }
        return links;
    }

    private static void requireFiveTestsPassed(Path project) {
        assertThat(project.resolve("target/surefire-reports/TEST-org.example.FooTest.xml"))
                .content()
                .contains("tests=\"5\" errors=\"0\" skipped=\"0\" failures=\"0\"");
    }

    @Tag("once")
    @Test
    @Timeout(MAVEN_PATIENCE_SECONDS + 60)
    void mavenBuildsTheProjectWhereverTheNodeIs() throws Exception {
        requireMaven();
        Path jar = folder.resolve("a node & more").resolve("tamanoir node.jar");
        writeNodeJar(jar);
        Path project = folder.resolve("foo");
        assertThat(run("org.example.Foo", "--dir", project.toString(), "--jar", jar.toString()))
                .isZero();
        maven(project, localRepository(), "package");
        try (JarFile built = new JarFile(project.resolve("target/foo-1.0.0.jar").toFile())) {
            assertThat(built.getManifest().getMainAttributes().getValue("Tamanoir-Service"))
                    .isEqualTo("org.example.Foo");
            assertThat(built.getManifest().getMainAttributes().getValue("Implementation-Version"))
                    .isEqualTo("1.0.0");
            assertThat(built.stream().map(JarEntry::getName))
                    .contains("org/example/Foo.class")
                    .noneMatch(name -> name.startsWith("org/tamanoir") || name.endsWith("pom.xml"));
        }
        requireFiveTestsPassed(project);
    }

    private static void requireMaven() throws InterruptedException {
        String whyNot = "";
        try {
            if (new ProcessBuilder("mvn", "-v")
                            .redirectErrorStream(true)
                            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                            .start()
                            .waitFor()
                    != 0) {
                whyNot = "mvn -v fails";
            }
        } catch (IOException e) {
            whyNot = "no mvn: " + e.getMessage();
        }
        Tiers.require("maven", whyNot.isEmpty(), whyNot);
    }

    /** What of the node's jar services are built and tested with. */
    private static void writeNodeJar(Path jar) throws IOException, URISyntaxException {
        Path core = Path.of(Service.class
                .getProtectionDomain()
                .getCodeSource()
                .getLocation()
                .toURI());
        Files.createDirectories(jar.getParent());
        try (OutputStream file = Files.newOutputStream(jar);
                JarOutputStream out = new JarOutputStream(file)) {
            if (Files.isDirectory(core)) {
                addClasses(out, core);
            } else {
                try (FileSystem content = FileSystems.newFileSystem(core)) {
                    addClasses(out, content.getPath("/"));
                }
            }
        }
    }

    private static void addClasses(JarOutputStream out, Path root) throws IOException {
        try (Stream<Path> all = Files.walk(root.resolve("org"))) {
            for (Path path : all.filter(Files::isRegularFile).toList()) {
                out.putNextEntry(new JarEntry(root.relativize(path).toString().replace('\\', '/')));
                Files.copy(path, out);
                out.closeEntry();
            }
        }
    }

    /** Offline, with what is in the repository that this build uses: its plugins have the versions that the project names. */
    private static void maven(Path project, Path repository, String... arguments) throws Exception {
        List<String> command = new ArrayList<>(List.of("mvn", "-o", "-B", "-q"));
        command.add("-Dmaven.repo.local=" + repository);
        command.add("-DargLine=" + QUICK_START);
        command.addAll(List.of(arguments));
        Path log = project.resolve("maven.log");
        ProcessBuilder builder = new ProcessBuilder(command)
                .directory(project.toFile())
                .redirectErrorStream(true)
                .redirectOutput(log.toFile());
        builder.environment().put("MAVEN_OPTS", QUICK_START);
        Process process = builder.start();
        boolean ended = process.waitFor(MAVEN_PATIENCE_SECONDS, TimeUnit.SECONDS);
        process.destroyForcibly();
        assertThat(ended).as(Files.readString(log)).isTrue();
        assertThat(process.exitValue()).as(Files.readString(log)).isZero();
    }

    private static Path localRepository() {
        String suffix = Path.of("org", "junit", "jupiter", "junit-jupiter-api").toString();
        return Stream.of(System.getProperty("java.class.path").split(File.pathSeparator))
                .filter(entry -> entry.contains(suffix))
                .map(entry -> Path.of(entry.substring(0, entry.indexOf(suffix))))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void thePomIsWellFormedWhereverTheNodeIs() throws Exception {
        Path jar = Files.createDirectories(folder.resolve("<a> & b")).resolve("node.jar");
        Files.write(jar, new byte[0]);
        assertThat(run("org.example.Foo", "--dir", folder.resolve("p").toString(), "--jar", jar.toString()))
                .isZero();
        String pom = Files.readString(folder.resolve("p/pom.xml"), StandardCharsets.UTF_8);
        assertThat(pom).contains("&lt;a&gt; &amp; b");
        javax.xml.parsers.DocumentBuilderFactory.newInstance()
                .newDocumentBuilder()
                .parse(folder.resolve("p/pom.xml").toFile());
    }

    @Test
    void overwritesNothing() throws IOException {
        Path project = Files.createDirectory(folder.resolve("mine"));
        Path precious = Files.writeString(project.resolve("pom.xml"), "precious");
        assertThat(run("org.example.Foo", "--dir", project.toString(), "--jar", anyJar()))
                .isEqualTo(1);
        assertThat(err.toString())
                .isEqualTo("tamanoir new-service: " + project
                        + " is not empty, and nothing is overwritten: name another folder with --dir"
                        + System.lineSeparator());
        assertThat(files(project)).containsExactly(precious);
        assertThat(precious).content().isEqualTo("precious");

        assertThat(run("org.example.Foo", "--dir", precious.toString(), "--jar", anyJar()))
                .isEqualTo(1);
        assertThat(err.toString()).contains("is a file");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "Foo|it has no package",
                "org.example.foo-bar|it must look like a Java class",
                "../../etc/passwd|it must look like a Java class",
                "org.example.class|a keyword of Java",
                "org.new.Foo|a keyword of Java",
                "java.util.Foo|the packages java.* are not yours",
                "org.tamanoir.services.Foo|the packages org.tamanoir.* are not yours",
                "org.example.Packet|take another, such as org.example.PacketService",
            })
    void refusesNamesThatNoServiceCanHave(String name, String why) throws IOException {
        Path project = folder.resolve("project");
        assertThat(run(name, "--dir", project.toString(), "--jar", anyJar())).isEqualTo(2);
        assertThat(err.toString().lines()).hasSize(1);
        assertThat(err.toString())
                .startsWith("tamanoir new-service: service name '" + name + "': ")
                .contains(why);
        assertThat(project).doesNotExist();
    }

    @Test
    void wantsAJarToBuildAgainst() {
        Path missing = folder.resolve("missing.jar");
        assertThat(run("org.example.Foo", "--dir", folder.resolve("p").toString(), "--jar", missing.toString()))
                .isEqualTo(2);
        assertThat(err.toString()).contains("missing.jar is no jar to build against: name the tamanoir-node.jar");
    }

    @Test
    void namesTheFolderAfterTheClass() {
        assertThat(new ServiceProject("org.example.FooBar").artifact()).isEqualTo("foo-bar");
        assertThat(new ServiceProject("org.example.HTTPCache2Go").artifact()).isEqualTo("http-cache2-go");
        assertThat(new ServiceProject("org.example.x").artifact()).isEqualTo("x");
    }
}
