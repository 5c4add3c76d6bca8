package org.tamanoir.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.tamanoir.support.Tiers;
import org.tamanoir.support.Waiting;

/** The C compiler says what the header means; {@link Abi} must say the same of all of it, and nothing else. */
@Tag("process")
class AbiTest {
    private static final Path FOLDER = Path.of("..", "native", "include");
    private static final Pattern COMMENT = Pattern.compile("/\\*.*?\\*/", Pattern.DOTALL);
    private static final Pattern GUARD =
            Pattern.compile("^#(ifndef|define) TAMANOIR_(?:ABI|PLAIN)_H$|^#endif$|^#include .*$", Pattern.MULTILINE);
    private static final Pattern DEFINE = Pattern.compile("^#define TMN_(\\w+)[ \\t]+\\S+[ \\t]*$", Pattern.MULTILINE);
    private static final Pattern ENUM = Pattern.compile("enum tmn_\\w+ \\{([^}]*)\\};");
    private static final Pattern STRUCT = Pattern.compile("struct tmn_(\\w+) \\{([^}]*)\\};");
    private static final Pattern MEMBER = Pattern.compile("(?:struct )?\\w+ (\\w+)(?:\\[[^]]+])?");
    private static final String PADDING = "zero";

    @TempDir
    @SuppressWarnings("NullAway.Init") // set by JUnit
    Path folder;

    private final List<String> constants = new ArrayList<>();
    private final Map<String, List<String>> structs = new LinkedHashMap<>();

    /** Returns the name of the header. */
    String header() {
        return "tamanoir_abi.h";
    }

    /** Returns what all names of the header begin with, behind {@code TMN_}. */
    String prefix() {
        return "";
    }

    /** Returns what must say the same. */
    Class<?> java() {
        return Abi.class;
    }

    @BeforeEach
    void readHeader() throws IOException {
        String text =
                COMMENT.matcher(Files.readString(FOLDER.resolve(header()))).replaceAll("");
        String header = text.replaceAll("[ \\t]+(?=\\n)", "");
        header = take(header, GUARD, match -> {});
        header = take(header, DEFINE, match -> constants.add(match.group(1).substring(prefix().length())));
        header = take(header, ENUM, match -> {
            for (String constant : parts(match.group(1), ",")) {
                String name = constant.replaceFirst(" *=.*", "");
                assertThat(name).startsWith("TMN_" + prefix());
                constants.add(name.substring(("TMN_" + prefix()).length()));
            }
        });
        header = take(header, STRUCT, match -> {
            List<String> members = new ArrayList<>();
            for (String member : parts(match.group(2), ";")) {
                Matcher matcher = MEMBER.matcher(member);
                assertThat(matcher.matches()).as(member).isTrue();
                members.add(matcher.group(1));
            }
            structs.put(match.group(1).substring(prefix().length()), members);
        });
        assertThat(header.strip()).as("what this test does not understand").isEmpty();
        assertThat(constants).hasSizeGreaterThan(15).doesNotHaveDuplicates();
        assertThat(structs).hasSizeGreaterThan(3);
    }

    private static String take(String text, Pattern pattern, java.util.function.Consumer<Matcher> use) {
        Matcher matcher = pattern.matcher(text);
        StringBuilder rest = new StringBuilder();
        while (matcher.find()) {
            use.accept(matcher);
            matcher.appendReplacement(rest, "");
        }
        return matcher.appendTail(rest).toString();
    }

    private static List<String> parts(String text, String separator) {
        return List.of(text.split(separator)).stream()
                .map(String::strip)
                .filter(part -> !part.isEmpty())
                .toList();
    }

    @Test
    void everyNumberOfTheHeaderIsThatOfJava() throws Exception {
        requireCompiler();
        assertThat(javaNumbers()).isEqualTo(headerNumbers());
    }

    @Test
    void structsHaveNoHoles() throws Exception {
        requireCompiler();
        List<String> statements = new ArrayList<>();
        structs.forEach((struct, members) -> {
            StringBuilder sum = new StringBuilder("0");
            String name = name(struct);
            members.forEach(member -> sum.append(" + sizeof(((" + name + " *)0)->" + member + ")"));
            statements.add("_Static_assert(sizeof(" + name + ") == " + sum + ", \"" + struct + "\");");
        });
        assertThat(run(statements)).isEmpty();
    }

    private String name(String struct) {
        return "struct tmn_" + prefix().toLowerCase(Locale.ROOT) + struct;
    }

    private static void requireCompiler() throws Exception {
        boolean isThere;
        try {
            isThere = new ProcessBuilder("gcc", "--version")
                            .redirectErrorStream(true)
                            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                            .start()
                            .waitFor()
                    == 0;
        } catch (IOException absent) {
            isThere = false;
        }
        Tiers.require("native-build", isThere, "gcc is not installed (Debian package gcc)");
    }

    private Map<String, String> headerNumbers() throws Exception {
        List<String> statements = new ArrayList<>();
        for (String constant : constants) {
            statements.add(
                    constant.equals("GENL_NAME")
                            ? "puts(\"GENL_NAME \" TMN_GENL_NAME);"
                            : number(constant, "TMN_" + prefix() + constant));
        }
        structs.forEach((struct, members) -> {
            statements.add(number(struct + ".size", "sizeof(" + name(struct) + ")"));
            for (String member : members) {
                if (!member.equals(PADDING)) {
                    statements.add(number(struct + "." + member, "offsetof(" + name(struct) + ", " + member + ")"));
                }
            }
        });
        Map<String, String> numbers = new TreeMap<>();
        for (String line : run(statements)) {
            String[] nameAndValue = line.split(" ", 2);
            numbers.put(nameAndValue[0], nameAndValue[1]);
        }
        return numbers;
    }

    private static String number(String name, String expression) {
        return "printf(\"" + name + " %lld\\n\", (long long)(" + expression + "));";
    }

    /** What a C program of these statements prints. */
    private List<String> run(List<String> statements) throws Exception {
        Path source = folder.resolve("numbers.c");
        Path program = folder.resolve("numbers");
        Files.writeString(
                source,
                "#include <stdio.h>\n#include <stddef.h>\n#include \"" + header() + "\"\nint main(void)\n{\n"
                        + String.join("\n", statements)
                        + "\nreturn 0;\n}\n");
        List<String> compiled =
                output("gcc", "-Wall", "-Werror", "-I", FOLDER.toString(), "-o", program.toString(), source.toString());
        assertThat(compiled).isEmpty();
        return output(program.toString());
    }

    private List<String> output(String... command) throws Exception {
        Path file = Files.createTempFile(folder, "output", ".txt");
        Process process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(file.toFile())
                .start();
        assertThat(process.waitFor(Waiting.PATIENCE.toSeconds(), TimeUnit.SECONDS))
                .as(command[0] + " ends")
                .isTrue();
        List<String> lines = Files.readAllLines(file);
        assertThat(process.exitValue()).as(String.join("\n", lines)).isZero();
        return lines;
    }

    private Map<String, String> javaNumbers() throws IllegalAccessException {
        Map<String, String> numbers = new TreeMap<>();
        for (Field field : java().getDeclaredFields()) {
            if (isNumber(field)) {
                Object value = field.get(null);
                // The header's constants are unsigned; Java's of 32 bits are ints.
                numbers.put(
                        field.getName(),
                        value instanceof Integer number
                                ? Long.toString(Integer.toUnsignedLong(number))
                                : String.valueOf(value));
            }
        }
        for (Class<?> nested : java().getDeclaredClasses()) {
            String struct = nested.getSimpleName().replace("Struct", "").toLowerCase(Locale.ROOT);
            for (Field field : nested.getDeclaredFields()) {
                if (isNumber(field)) {
                    numbers.put(
                            struct + "." + field.getName().toLowerCase(Locale.ROOT), String.valueOf(field.get(null)));
                }
            }
        }
        return numbers;
    }

    private static boolean isNumber(Field field) {
        return Modifier.isStatic(field.getModifiers()) && !field.isSynthetic();
    }
}
