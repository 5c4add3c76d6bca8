import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Names the test classes that depend on changed files, nearest first: {@code java .ci/Affected.java} from the project's
 * folder, with the names of changed files on standard input, a line each. Prints a line for each test class: how many
 * steps it is away, the milliseconds that it took last ({@code target/test-reports}; 2,000 if it is not known), its module,
 * and its name, with tabs between. Classes {@code GuestTest} are left out: a profile of their own runs them.
 *
 * <p>A source file depends on the classes that it imports or names with their package, on those of its package that it
 * names, and, where a changed file is no Java source, on that file if it contains its name. Classes that are found by
 * name at run time are missed.
 */
final class Affected {
    private static final Pattern PACKAGE = Pattern.compile("^package ([\\w.]+);", Pattern.MULTILINE);
    private static final Pattern WHOLE_NAME = Pattern.compile("\\borg\\.tamanoir\\.[\\w.]+");
    private static final Pattern CLASS_NAME = Pattern.compile("\\b[A-Z]\\w*");
    private static final int UNKNOWN_MS = 2000;

    private final Map<Path, String> texts = new LinkedHashMap<>();
    private final Map<String, Path> classes = new HashMap<>();
    private final Map<Path, Set<Path>> users = new HashMap<>();

    public static void main(String[] arguments) throws IOException {
        List<Path> changed = new String(System.in.readAllBytes(), StandardCharsets.UTF_8)
                .lines()
                .map(Path::of)
                .toList();
        Affected affected = new Affected();
        affected.read();
        affected.link();
        affected.print(affected.distances(changed));
    }

    private void read() throws IOException {
        try (Stream<Path> modules = Files.walk(Path.of(""), 4)) {
            for (Path sources : modules.filter(path -> path.endsWith("src/main/java") || path.endsWith("src/test/java"))
                    .toList()) {
                try (Stream<Path> files = Files.walk(sources)) {
                    for (Path file : files.filter(path -> path.toString().endsWith(".java")).sorted().toList()) {
                        String text = Files.readString(file);
                        texts.put(file, text);
                        classes.put(packageOf(text) + "." + simpleName(file), file);
                    }
                }
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
            Stream<Path> first = texts.containsKey(file) ? Stream.of(file) : naming(file);
            first.forEach(path -> {
                if (distances.putIfAbsent(path, 0) == null) {
                    open.add(path);
                }
            });
        }
        while (!open.isEmpty()) {
            Path file = open.poll();
            for (Path user : users.getOrDefault(file, Set.of())) {
                if (distances.putIfAbsent(user, distances.get(file) + 1) == null) {
                    open.add(user);
                }
            }
        }
        return distances;
    }

    /**
     * Sources that name a file which is none: a resource, a page, a script, by its last two parts where its name alone may
     * be any word. Nobody names the build's files, and a deleted class has no users here.
     */
    private Stream<Path> naming(Path file) {
        String name = file.getFileName().toString();
        if (name.endsWith(".java") || name.equals("pom.xml")) {
            return Stream.empty();
        }
        Path folder = file.getParent();
        String text = name.contains(".") ? name : (folder == null ? "." : folder.getFileName()) + "/" + name;
        return texts.entrySet().stream()
                .filter(entry -> entry.getValue().contains(text))
                .map(Map.Entry::getKey);
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
