package org.tamanoir.node.author;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.reflect.Modifier;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.gateway.StreamFormat;
import org.tamanoir.node.Main;
import org.tamanoir.node.config.ConfigFile;
import org.tamanoir.node.config.NodeConfigBuilder;
import org.tamanoir.node.config.Problems;
import org.tamanoir.service.Service;
import org.tamanoir.service.StreamInfo.Transport;
import org.tamanoir.testkit.ServiceHarness;
import picocli.CommandLine;

/** Compiles each Java example of the documentation, runs those that are whole classes, and reads all commands. */
@Tag("once")
class DocumentedExamplesTest {
    private static final Path ROOT = Path.of("..");
    private static final Pattern JAVA = Pattern.compile("```java\n(.*?)```", Pattern.DOTALL);
    private static final Pattern WHOLE =
            Pattern.compile("(?m)^(?:public |final |abstract )*(?:class|interface|record|enum) (\\w+)[^;]*\\{\n");
    private static final Pattern PACKAGE = Pattern.compile("(?m)^package ([\\w.]+);");
    private static final Pattern COMMAND =
            Pattern.compile("(?:java -jar tamanoir-node\\.jar|(?m:^)tamanoir) ((?:[^`|\\n&;\\\\]|\\\\\\n)+)");
    private static final Pattern WORD = Pattern.compile("'([^']*)'|\"([^\"]*)\"|(\\S+)");

    /** What examples import that say so in words. */
    private static final String IMPORTS = """
            import java.io.*;
            import java.net.*;
            import java.nio.*;
            import java.time.*;
            import java.util.*;
            import java.util.function.*;
            import org.tamanoir.anep.*;
            import org.tamanoir.cluster.element.*;
            import org.tamanoir.format.*;
            import org.tamanoir.icmp.*;
            import org.tamanoir.rtp.*;
            import org.tamanoir.service.*;
            """;

    /** What stands around examples that are no whole class, by what they begin with; %s is the example. */
    private static final Map<String, String> AROUND = new TreeMap<>(Map.of(
            "try (Sprayer", "class Example { void run(List<Unit> units, ByteBuffer datagram) throws Exception {%s} }",
            "Format format", """
                    class Example {
                        void run(ByteBuffer payload, byte[] atlanta, Accessor hub) throws Exception {%s{} }
                    }
                    """,
            "private final RtpPacket", "class Example extends Service {%s}",
            "private final IcmpMessage", "class Example extends Service {%s}",
            "@PerPacket", "%s public Verdict process(Packet packet) { return Verdict.FORWARD; } }",
            "@Override\npublic Verdict", """
                    class Example extends Service {
                        void lookUp(InetAddress source, Consumer<Boolean> known) {}
                        %s
                    }
                    """,
            "config.allow", """
                    class Example {
                        enum Mode { STRICT }
                        long maxPayload;
                        Mode mode;
                        void init(ServiceConfig config) {%s}
                    }
                    """,
            "Allotment now", "class Example extends Service { public Verdict process(Packet p) {%s return null; } }"));

    @TempDir
    Path folder;

    private record Example(String page, int line, String text) {
        String name() {
            return page + ":" + line;
        }
    }

    private static List<Path> pages() throws IOException {
        try (Stream<Path> docs = Files.list(ROOT.resolve("docs"))) {
            return Stream.concat(Stream.of(ROOT.resolve("README.md")), docs)
                    .filter(page -> page.toString().endsWith(".md"))
                    .sorted()
                    .toList();
        }
    }

    private static List<Example> examples() throws IOException {
        List<Example> examples = new ArrayList<>();
        for (Path page : pages()) {
            String text = Files.readString(page);
            Matcher block = JAVA.matcher(text);
            while (block.find()) {
                int line = (int) text.substring(0, block.start()).lines().count() + 1;
                examples.add(new Example(String.valueOf(page.getFileName()), line, block.group(1)));
            }
        }
        return examples;
    }

    private static String source(Example example) {
        if (isWhole(example)) {
            return example.text;
        }
        String begin = AROUND.keySet().stream()
                .filter(example.text::startsWith)
                .findAny()
                .orElseThrow(() -> new AssertionError(
                        example.name() + " is no whole class: say in AROUND what stands around it\n" + example.text));
        // Three dots stand for what the reader writes.
        String text = example.text.replace("...", "").replace("…", "");
        return IMPORTS + AROUND.get(begin).replace("%s", text);
    }

    private static boolean isWhole(Example example) {
        return WHOLE.matcher(example.text).find() && !example.text.contains("...");
    }

    /** Compiles sources by their names, and returns what the compiler says; empty when all is well. */
    private static String compile(Path classes, Map<String, String> sources) throws IOException {
        List<String> arguments = new ArrayList<>(List.of(
                "-d",
                classes.toString(),
                "--release",
                "17",
                "-proc:none",
                "-cp",
                classes + System.getProperty("path.separator") + System.getProperty("java.class.path")));
        Path folder = Files.createDirectories(classes.resolveSibling(classes.getFileName() + "-sources"));
        for (Map.Entry<String, String> source : sources.entrySet()) {
            arguments.add(Files.writeString(folder.resolve(source.getKey() + ".java"), source.getValue())
                    .toString());
        }
        java.io.ByteArrayOutputStream said = new java.io.ByteArrayOutputStream();
        int code = ToolProvider.getSystemJavaCompiler().run(null, said, said, arguments.toArray(String[]::new));
        return code == 0 ? "" : said.toString(StandardCharsets.UTF_8);
    }

    private static String nameOf(String source) {
        Matcher name = Pattern.compile("(?:class|record|interface) (\\w+)").matcher(source);
        assertThat(name.find()).as(source).isTrue();
        return name.group(1);
    }

    @TestFactory
    List<DynamicTest> eachJavaExampleCompilesAndThoseThatAreWholeRun() throws IOException {
        return examples().stream()
                .map(example -> DynamicTest.dynamicTest(example.name(), () -> tryOut(example)))
                .toList();
    }

    private void tryOut(Example example) throws Exception {
        Path classes = Files.createDirectories(folder.resolve(example.page + example.line));
        if (example.text.contains("@Test\n")) {
            runTest(example, classes);
            return;
        }
        Map<String, String> sources = new TreeMap<>();
        String source = source(example);
        sources.put(nameOf(source), source);
        if (source.contains("new ShortestFirst(")) {
            sources.put("ShortestFirst", """
                    import org.tamanoir.qdisc.*;
                    abstract class ShortestFirst implements QueueingDiscipline {
                        ShortestFirst(DisciplineConfig config, Drops drops) {}
                    }
                    """);
            source = source.replace("new ShortestFirst(config, drops)", "new ShortestFirst(config, drops) {}");
            sources.put(
                    "ShortestFirst",
                    sources.get("ShortestFirst")
                            .replace("abstract class", "class")
                            .replace("{}\n", """
                    {}
                        public void enqueue(Item item, long nowNs) {}
                        public Item dequeue(long nowNs) { return null; }
                        public int packets() { return 0; }
                        public long bytes() { return 0; }
                        public void remove(Item item, long nowNs) {}
                    """));
        }
        assertThat(compile(classes, sources)).as(example.name()).isEmpty();
        if (isWhole(example)) {
            run(example, classes);
        }
    }

    private static String className(Example example) {
        Matcher name = WHOLE.matcher(example.text);
        assertThat(name.find()).isTrue();
        Matcher of = PACKAGE.matcher(example.text);
        return (of.find() ? of.group(1) + "." : "") + name.group(1);
    }

    private static void run(Example example, Path classes) throws Exception {
        try (URLClassLoader loader = loader(classes)) {
            Class<?> type = loader.loadClass(className(example));
            boolean isProgram = Stream.of(type.getMethods())
                    .anyMatch(method -> method.getName().equals("main") && Modifier.isStatic(method.getModifiers()));
            if (isProgram) {
                return; // It writes where it is started: the walk that has it runs it.
            }
            Object made = type.getConstructor().newInstance();
            if (made instanceof StreamFormat format) {
                ByteBuffer units = ByteBuffer.wrap("one\ntwo".getBytes(StandardCharsets.US_ASCII));
                assertThat(format.unitOctets(units, 0, 7)).isEqualTo(4);
                assertThat(format.unitOctets(units, 4, 7)).isZero();
            } else if (made instanceof Service service) {
                try (ServiceHarness harness = ServiceHarness.start(service, Transport.UDP, Map.of())) {
                    harness.sendText("hello");
                    if (type.getSimpleName().equals("Shout")) {
                        assertThat(harness.outputs().get(0).text()).isEqualTo("HELLO");
                    }
                }
            }
        }
    }

    private static URLClassLoader loader(Path classes) throws IOException {
        return new URLClassLoader(new URL[] {classes.toUri().toURL()}, DocumentedExamplesTest.class.getClassLoader());
    }

    /** A test of the service that {@code new-service} writes. */
    private static void runTest(Example example, Path classes) throws Exception {
        Path project = classes.resolveSibling("project");
        Path jar = Files.write(classes.resolveSibling("node.jar"), new byte[0]);
        new ServiceProject("org.example.Foo").writeTo(project, jar, null);
        String service = Files.readString(project.resolve("src/main/java/org/example/Foo.java"));
        String test = """
                package org.example;
                import static org.junit.jupiter.api.Assertions.assertEquals;
                import java.util.List;
                import java.util.Map;
                import org.junit.jupiter.api.Test;
                import org.tamanoir.service.StreamInfo.Transport;
                import org.tamanoir.testkit.ServiceHarness;
                public class Example {
                """ + example.text.replace("void ", "public void ") + "}\n";
        assertThat(compile(classes, Map.of("Foo", service, "Example", test)))
                .as(example.name())
                .isEmpty();
        try (URLClassLoader loader = loader(classes)) {
            Class<?> type = loader.loadClass("org.example.Example");
            Object made = type.getConstructor().newInstance();
            for (var method : type.getDeclaredMethods()) {
                if (!method.isSynthetic()) {
                    method.invoke(made);
                }
            }
        }
    }

    @Test
    void eachCommandOfThePagesIsOneThatTheProgramTakes() throws IOException {
        List<String> problems = new ArrayList<>();
        for (Path page : pages()) {
            Matcher command = COMMAND.matcher(Files.readString(page));
            while (command.find()) {
                List<String> words = WORD.matcher(words(command.group(1)))
                        .results()
                        .map(word -> Stream.of(word.group(1), word.group(2), word.group(3))
                                .filter(found -> found != null)
                                .findFirst()
                                .orElse(""))
                        .toList();
                if (isProse(words)) {
                    continue;
                }
                try {
                    Main.commandLine(words.get(0)).parseArgs(words.toArray(String[]::new));
                } catch (CommandLine.ParameterException e) {
                    problems.add(page.getFileName() + ": " + command.group().strip() + ": " + e.getMessage());
                }
            }
        }
        assertThat(problems).isEmpty();
    }

    /** Returns a command in one line, without a comment and what stands for more options. */
    private static String words(String command) {
        return command.replace("\\\n", " ")
                .replaceFirst("\\s+(#|\\d?>).*", "")
                .replaceFirst("\\s+(\\.\\.\\.|…)\\s*$", "");
    }

    /** Returns whether it is what a command prints, or names files that are not there. */
    private static boolean isProse(List<String> words) {
        return words.stream().anyMatch(word -> word.endsWith(":")) || words.contains("auth.keys");
    }

    /** With the class on the class path nothing else has to name it. */
    @Test
    void theServiceOfAGatewayNeedsNoOtherMention() throws Exception {
        Path classes = Files.createDirectories(folder.resolve("classes"));
        for (Example example : examples()) {
            if (example.text.contains("class Shout")) {
                assertThat(compile(classes, Map.of("Shout", example.text))).isEmpty();
            }
        }
        Path file = Files.writeString(
                folder.resolve("node.yaml"), "listen: {gateways: ['7001=127.0.0.1:7002,octets,org.example.Shout']}\n");
        Problems problems = new Problems();
        ClassLoader before = Thread.currentThread().getContextClassLoader();
        try (URLClassLoader loader = loader(classes)) {
            Thread.currentThread().setContextClassLoader(loader);
            NodeConfigBuilder builder = new NodeConfigBuilder(problems);
            ConfigFile.readAgain(file, builder);
            builder.check();
            assertThat(problems.lines()).isEmpty();
            assertThat(builder.build().services())
                    .extracting(ServiceDefinition::name)
                    .contains("org.example.Shout");
        } finally {
            Thread.currentThread().setContextClassLoader(before);
        }
    }
}
