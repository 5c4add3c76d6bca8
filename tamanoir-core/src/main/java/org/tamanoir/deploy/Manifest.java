package org.tamanoir.deploy;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.tamanoir.anep.ServiceKey;

/**
 * What a publisher says about one version of a service, and signs: the file {@code manifest.json}.
 *
 * <pre>{@code
 * {
 *   "format" : 1,
 *   "name" : "org.example.Foo",
 *   "version" : "1.0",
 *   "key" : "8da134a4c1109d43",              first 64 bits of SHA-256 over "org.example.Foo:1.0"
 *   "mainClass" : "org.example.Foo",
 *   "jarSha256" : "<64 hexadecimal digits>",
 *   "jarOctets" : 30212,
 *   "levels" : [ "jvm" ],
 *   "limits" : { "processors" : 0.5, "allocationOctetsPerSecond" : 0 },
 *   "description" : "one line"
 * }
 * }</pre>
 *
 * @param id which version of which service
 * @param mainClass the class that extends {@code Service}, as {@code Class.getName} says it; ASCII
 * @param jarSha256 64 hexadecimal digits in lower case
 * @param jarBytes size of the jar, at most {@value #MAX_JAR_BYTES}: it is held in memory
 * @param levels where it may be handled: {@code jvm}, which every service needs since its code says there what other
 *     levels do, and besides {@code kernel} and {@code nic}
 * @param limits what it needs at most, processors in thousandths; the node's own limits hold besides
 * @param description one line of at most {@value #MAX_DESCRIPTION} characters, may be empty
 */
public record Manifest(
        ServiceId id,
        String mainClass,
        String jarSha256,
        long jarBytes,
        List<String> levels,
        ServiceLimits limits,
        String description) {
    /** The largest manifest that is read. */
    public static final int MAX_BYTES = 16 * 1024;
    /** The largest jar that a manifest can name, in bytes. */
    public static final long MAX_JAR_BYTES = 1L << 28;
    /** The longest description, in characters. */
    public static final int MAX_DESCRIPTION = 500;

    static final int FORMAT = 1;
    /** The level of the Java virtual machine. */
    static final String JVM = "jvm";

    private static final int MAX_MAIN_CLASS = 250;
    private static final Pattern SHA256 = Pattern.compile("[0-9a-f]{64}");
    private static final Set<String> LEVELS = Set.of(JVM, "kernel", "nic");
    private static final Pattern CLASS = Pattern.compile("[A-Za-z_$][A-Za-z0-9_$]*(\\.[A-Za-z_$][A-Za-z0-9_$]*)*");

    /**
     * Checks every field.
     *
     * @throws IllegalArgumentException in one line: the field, its value, the bound
     */
    public Manifest {
        if (mainClass.length() > MAX_MAIN_CLASS || !CLASS.matcher(mainClass).matches()) {
            throw new IllegalArgumentException("mainClass " + OneLine.quoted(mainClass)
                    + ": it must be the name of a Java class, at most " + MAX_MAIN_CLASS
                    + " letters, digits, underscores, dollars and dots");
        }
        if (!isSha256(jarSha256)) {
            throw new IllegalArgumentException(
                    "jarSha256 " + OneLine.quoted(jarSha256) + ": it must be 64 hexadecimal digits in lower case");
        }
        if (jarBytes < 1 || jarBytes > MAX_JAR_BYTES) {
            throw new IllegalArgumentException("jarOctets " + jarBytes + ": must be 1 to " + MAX_JAR_BYTES);
        }
        levels = List.copyOf(levels);
        for (String level : levels) {
            if (!LEVELS.contains(level)) {
                throw new IllegalArgumentException(
                        "levels: " + OneLine.quoted(level) + " must be one of jvm, kernel, nic");
            }
        }
        if (levels.isEmpty() || new HashSet<>(levels).size() != levels.size()) {
            throw new IllegalArgumentException("levels " + levels + ": at least one, each once");
        }
        if (Math.rint(limits.processors() * 1000) / 1000 != limits.processors()) {
            throw new IllegalArgumentException(
                    "limits.processors " + limits.processors() + ": at most three digits behind the point");
        }
        if (description.length() > MAX_DESCRIPTION || !description.codePoints().allMatch(OneLine::isShown)) {
            throw new IllegalArgumentException("description " + OneLine.quoted(description) + ": one line of at most "
                    + MAX_DESCRIPTION + " characters that can be shown");
        }
    }

    /** Returns whether a text is 64 hexadecimal digits in lower case, as a jar's SHA-256 is written. */
    static boolean isSha256(String text) {
        return SHA256.matcher(text).matches();
    }

    /** Returns the file's bytes; the same manifest always gives the same. */
    public byte[] encode() {
        // Of all these texts only the description can hold characters that JSON wants escaped, and only two of them.
        String text = String.format(
                Locale.ROOT,
                """
                {
                  "format" : %d,
                  "name" : "%s",
                  "version" : "%s",
                  "key" : "%s",
                  "mainClass" : "%s",
                  "jarSha256" : "%s",
                  "jarOctets" : %d,
                  "levels" : [ %s ],
                  "limits" : { "processors" : %s, "allocationOctetsPerSecond" : %d },
                  "description" : "%s"
                }
                """,
                FORMAT,
                id.name(),
                id.version(),
                ServiceKey.toString(id.key()),
                mainClass,
                jarSha256,
                jarBytes,
                levels.stream().map(l -> '"' + l + '"').collect(Collectors.joining(", ")),
                thousandths(limits.processors()),
                limits.allocationBytesPerSecond(),
                description.replace("\\", "\\\\").replace("\"", "\\\""));
        return text.getBytes(StandardCharsets.UTF_8);
    }

    /** Returns a number exactly, unlike {@code Double.toString}, which Java 19 changed. */
    private static String thousandths(double number) {
        BigDecimal rounded = new BigDecimal(number).setScale(3, RoundingMode.HALF_EVEN);
        return rounded.signum() == 0 ? "0" : rounded.stripTrailingZeros().toPlainString();
    }

    /**
     * Reads a manifest and checks every field; unknown fields are refused, except under {@code "x-..."} names.
     *
     * @throws CodeRefusedException {@link Refusal#MALFORMED}, with the field, its value and the remedy
     */
    public static Manifest decode(byte[] json) throws CodeRefusedException {
        return ManifestReader.read(json);
    }
}
