import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Names the test classes that depend on changed files, nearest first: {@code java .ci/Affected.java} from the project's
 * folder, with the names of changed files on standard input, a line each. Prints a line for each test class: how many
 * steps it is away, the milliseconds that it took last ({@code target/test-reports}; 2,000 if it is not known), its module,
 * and its name, with tabs between. Classes {@code GuestTest} are left out: a profile of their own runs them. Ends with 2 and
 * one line where a source cannot be read.
 *
 * <p>A source file depends on the classes that it imports or names with their package, on those of its package that it
 * names, and, where a changed file is no Java source, on that file if it contains its name, or that of what is built of
 * it: the object of a BPF program, or the program of a test, also for headers that they include. A resource that no source
 * names is found by its folder's name. What is not found so is what all tests of its module depend on; for {@code native}
 * this is the kernel bridge. Classes that are found by name at run time are missed.
 */
final class Affected {
    private static final Pattern PACKAGE = Pattern.compile("^package ([\\w.]+);", Pattern.MULTILINE);
    private static final Pattern WHOLE_NAME = Pattern.compile("\\borg\\.tamanoir\\.[\\w.]+");
    private static final Pattern CLASS_NAME = Pattern.compile("\\b[A-Z]\\w*");
    private static final Pattern INCLUDE = Pattern.compile("^\\s*#\\s*include\\s+[\"<](?:.*/)?([^\">]+)", Pattern.MULTILINE);
    private static final Path NATIVE = Path.of("native");
    private static final String NATIVE_MODULE = "tamanoir-kernel-bridge";
    private static final int UNKNOWN_MS = 2000;

    private final Map<Path, String> texts = new LinkedHashMap<>();
    private final Map<String, Path> classes = new HashMap<>();
    private final Map<Path, Set<Path>> users = new HashMap<>();

    /** Sources in C, each with the names of files that it includes. */
    private final Map<Path, Set<String>> includes = new LinkedHashMap<>();

    public static void main(String[] arguments) {
        try {
            run();
        } catch (IOException e) {
            System.err.println("check: " + e.getMessage());
            System.exit(2);
        }
    }

    private static void run() throws IOException {
        List<Path> changed = new String(System.in.readAllBytes(), StandardCharsets.UTF_8)
                .lines()
                .map(Path::of)
                .toList();
        Affected affected = new Affected();
        affected.read();
        affected.readNative();
        affected.link();
        affected.print(affected.distances(changed));
    }

    private void read() throws IOException {
        try (Stream<Path> modules = Files.walk(Path.of(""), 4)) {
            for (Path sources : modules.filter(path -> path.endsWith("src/main/java") || path.endsWith("src/test/java"))
                    .toList()) {
                try (Stream<Path> files = Files.walk(sources)) {
                    for (Path file : files.filter(path -> path.toString().endsWith(".java")).sorted().toList()) {
                        String text = text(file);
                        texts.put(file, text);
                        classes.put(packageOf(text) + "." + simpleName(file), file);
                    }
                }
            }
        }
    }

    private static String text(Path file) throws IOException {
        try {
            return Files.readString(file);
        } catch (CharacterCodingException e) {
            throw new IOException(file + ": is not UTF-8: save it in that encoding", e);
        }
    }

    private void readNative() throws IOException {
        if (!Files.isDirectory(NATIVE)) {
            return;
        }
        try (Stream<Path> files = Files.walk(NATIVE)) {
            for (Path file : files.filter(path -> path.toString().matches(".*\\.[ch]")).sorted().toList()) {
                String text = Files.readString(file, StandardCharsets.ISO_8859_1); // names of includes are ASCII
                includes.put(file, INCLUDE.matcher(text).results().map(match -> match.group(1)).collect(Collectors.toSet()));
            }
        }
    }

    private void link() {
        Map<String, Map<String, Path>> packages = new HashMap<>();
        classes.forEach((name, file) -> packages.computeIfAbsent(
                        name.substring(0, name.lastIndexOf('.')), unused -> new HashMap<>())
                .put(simpleName(file), file));
        texts.forEach((file, text) -> {
            WHOLE_NAME.matcher(text).results().map(match -> named(match.group())).forEach(used -> use(file, used));
            Map<String, Path> neighbours = packages.get(packageOf(text));
            CLASS_NAME.matcher(text).results().map(match -> neighbours.get(match.group())).forEach(used -> use(file, used));
        });
    }

    /** The class, or the class of a nested class or of a static member; null for one of a library. */
    private Path named(String name) {
        String outer = name;
        while (outer.contains(".") && !classes.containsKey(outer)) {
            outer = outer.substring(0, outer.lastIndexOf('.'));
        }
        return classes.get(outer);
    }

    private void use(Path file, Path used) {
        if (used != null && !used.equals(file)) {
            users.computeIfAbsent(used, unused -> new HashSet<>()).add(file);
        }
    }

    private Map<Path, Integer> distances(List<Path> changed) {
        Map<Path, Integer> distances = new LinkedHashMap<>();
        ArrayDeque<Path> open = new ArrayDeque<>();
        for (Path file : changed) {
            List<Path> first = texts.containsKey(file) ? List.of(file) : naming(file);
            first.forEach(path -> reach(path, 0, distances, open));
            if (first.isEmpty()) {
                testsOfModule(file).forEach(path -> reach(path, 1, distances, open));
            }
        }
        while (!open.isEmpty()) {
            Path file = open.poll();
            for (Path user : users.getOrDefault(file, Set.of())) {
                reach(user, distances.get(file) + 1, distances, open);
            }
        }
        return distances;
    }

    /** Notes how far away a file is, the first time that a way to it is found. */
    private static void reach(Path file, int distance, Map<Path, Integer> distances, ArrayDeque<Path> open) {
        if (distances.putIfAbsent(file, distance) == null) {
            open.add(file);
        }
    }

    /**
     * Sources that name a file which is none: a resource, a page, a script, a source in C. Nobody names the build's files,
     * and a deleted class has no users here.
     */
    private List<Path> naming(Path file) {
        if (isOfBuild(file)) {
            return List.of();
        }
        Set<String> names = new HashSet<>();
        withIncluders(file).forEach(each -> names.addAll(names(each)));
        List<Path> naming = naming(names);
        for (Path folder = file.getParent(); naming.isEmpty() && isOfResources(folder); folder = folder.getParent()) {
            naming = naming(Set.of(folder.getFileName() + "/", folder.getFileName() + "\""));
        }
        return naming;
    }

    private List<Path> naming(Set<String> names) {
        return texts.entrySet().stream()
                .filter(entry -> names.stream().anyMatch(entry.getValue()::contains))
                .map(Map.Entry::getKey)
                .toList();
    }

    /** Whether a folder lies below {@code src/main/resources} or {@code src/test/resources}. */
    private static boolean isOfResources(Path folder) {
        return folder != null && folder.toString().matches(".*src/(main|test)/resources/.+");
    }

    private static boolean isOfBuild(Path file) {
        return file.toString().endsWith(".java") || file.endsWith("pom.xml");
    }

    /** The file, and the sources in C that include it, or a header that does. */
    private Set<Path> withIncluders(Path file) {
        Set<Path> all = new LinkedHashSet<>(List.of(file));
        ArrayDeque<Path> open = new ArrayDeque<>(all);
        while (!open.isEmpty()) {
            String name = open.poll().getFileName().toString();
            includes.forEach((includer, included) -> {
                if (included.contains(name) && all.add(includer)) {
                    open.add(includer);
                }
            });
        }
        return all;
    }

    /**
     * As what a source names a file: by its name, by its last two parts where that may be any word, by the name of its
     * object, or, a program of a test in C, as the whole of a text.
     */
    private static List<String> names(Path file) {
        String name = file.getFileName().toString();
        Path folder = file.getParent();
        if (name.endsWith(".bpf.c")) {
            return List.of(name, name.replaceFirst("c$", "o"));
        }
        if (file.startsWith(NATIVE.resolve("test")) && name.endsWith(".c")) {
            return List.of(name, "SanitizedProgram(folder, \"" + name.replaceFirst("\\.c$", "\""), "/" + name.replaceFirst("\\.c$", "\""));
        }
        return List.of(name.contains(".") ? name : (folder == null ? "." : folder.getFileName()) + "/" + name);
    }

    /** All test classes of the module that a file, which no source names, is of. */
    private List<Path> testsOfModule(Path file) {
        if (isOfBuild(file)) {
            return List.of();
        }
        Path module = file.startsWith(NATIVE) ? Path.of(NATIVE_MODULE) : null;
        for (Path folder = file.getParent(); module == null && folder != null; folder = folder.getParent()) {
            module = folder.endsWith("src") ? folder.getParent() : null;
        }
        Path tests = module == null ? null : module.resolve("src/test/java");
        return texts.keySet().stream()
                .filter(path -> tests != null && path.startsWith(tests))
                .toList();
    }

    private void print(Map<Path, Integer> distances) throws IOException {
        record Test(int distance, long ms, String module, String name) {}
        List<Test> tests = new ArrayList<>();
        for (Map.Entry<Path, Integer> entry : distances.entrySet()) {
            Path file = entry.getKey();
            String simple = simpleName(file);
            if (file.toString().contains("src/test/java") && simple.endsWith("Test") && !simple.equals("GuestTest")) {
                String module = file.toString().replaceFirst("/src/test/java/.*", "");
                String name = packageOf(texts.get(file)) + "." + simple;
                tests.add(new Test(entry.getValue(), ms(module, name), module, name));
            }
        }
        tests.sort(Comparator.comparingInt(Test::distance).thenComparingLong(Test::ms).thenComparing(Test::name));
        tests.forEach(test -> System.out.println(
                test.distance() + "\t" + test.ms() + "\t" + test.module() + "\t" + test.name()));
    }

    /** What a class took last: the first field of its report. */
    private static long ms(String module, String name) {
        try {
            String report = Files.readString(Path.of(module, "target", "test-reports", name));
            return Long.parseLong(report.substring(0, report.indexOf('\t')));
        } catch (IOException | IndexOutOfBoundsException | NumberFormatException e) {
            return UNKNOWN_MS; // it has not run here to its end
        }
    }

    private static String packageOf(String text) {
        Matcher matcher = PACKAGE.matcher(text);
        return matcher.find() ? matcher.group(1) : "";
    }

    private static String simpleName(Path file) {
        return file.getFileName().toString().replaceFirst("\\.java$", "");
    }
}
