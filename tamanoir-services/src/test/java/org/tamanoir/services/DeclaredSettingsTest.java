package org.tamanoir.services;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.reflect.Proxy;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.tamanoir.format.FormatRegistry;
import org.tamanoir.format.FormatSource;
import org.tamanoir.service.ControlHost;
import org.tamanoir.service.ControlledBy;
import org.tamanoir.service.Counter;
import org.tamanoir.service.DeclaredSetting;
import org.tamanoir.service.DeclaredSettings;
import org.tamanoir.service.Service;
import org.tamanoir.service.ServiceConfig;
import org.tamanoir.service.ServiceControl;
import org.tamanoir.service.ServiceHost;
import org.tamanoir.service.Setting;
import org.tamanoir.service.StreamInfo;
import org.tamanoir.services.extra.aggregate.Aggregate;
import org.tamanoir.services.extra.aggregate.Split;
import org.tamanoir.services.extra.cache.Cache;
import org.tamanoir.services.extra.crypt.Crypt;
import org.tamanoir.services.extra.crypt.Decrypt;
import org.tamanoir.services.extra.fec.Defec;
import org.tamanoir.services.extra.fec.Fec;
import org.tamanoir.services.extra.multicast.Multicast;
import org.tamanoir.services.extra.transcode.Transcode;

/** What services that ship declare is what their {@code init} reads: names, kinds, bounds and defaults. */
class DeclaredSettingsTest {
    private static final String BAD = "no/such/value";
    private static final String UNKNOWN = "no-such-setting-anywhere";
    private static final FormatSource FORMATS = FormatSource.of(new FormatRegistry(16, 1 << 20));
    private static final InetSocketAddress SELF = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    /** A default as the source has it, behind the name of its setting. */
    private static final Pattern READ = Pattern.compile(
            "onfig\\.(?:number|millis|choice|decimal|text)\\(\\s*\"([a-z-]+)\",\\s*([^,()]+(?:\\([^()]*\\))?)[,)]"
                    + "|NextService\\.of\\(config, \"([a-z-]+)\", (\"[^\"]+\")\\)");

    static Stream<Class<? extends Service>> services() {
        return Stream.of(
                Echo.class,
                Filter.class,
                Gunzip.class,
                Gzip.class,
                Impair.class,
                Monitor.class,
                Morph.class,
                Reflect.class,
                Aggregate.class,
                Split.class,
                Cache.class,
                Crypt.class,
                Decrypt.class,
                Fec.class,
                Defec.class,
                Multicast.class,
                Transcode.class);
    }

    /** What else must be there for a service to come to the setting, and for its bounds to be the widest. */
    private static List<Map<String, String>> settings(Class<?> type) {
        if (type == Transcode.class) {
            String program =
                    Path.of(System.getProperty("java.home"), "bin", "java").toString();
            return List.of(
                    Map.of("mode", "sound"),
                    Map.of("mode", "rtp", "from", "pcm", "to", "pcm"),
                    Map.of("mode", "pictures"),
                    Map.of("mode", "film"),
                    Map.of("mode", "program", "command", program));
        }
        return List.of(
                type == Gzip.class
                        ? Map.of("level", "9")
                        : type == Fec.class
                                ? Map.of("repair", "1")
                                : type == Reflect.class ? Map.of("to", "10.0.0.1:4000") : Map.of());
    }

    @ParameterizedTest
    @MethodSource("services")
    void namesAreThoseThatInitAllows(Class<? extends Service> type) throws Exception {
        TreeSet<String> known = new TreeSet<>();
        for (Map<String, String> settings : settings(type)) {
            String refusal = refusal(type, with(settings, UNKNOWN, BAD));
            assertThat(refusal).startsWith(UNKNOWN + ": no such setting; known: ");
            String names = refusal.substring(refusal.indexOf("known: ") + "known: ".length());
            known.addAll(names.equals("none") ? List.of() : Arrays.asList(names.split(", ")));
        }

        assertThat(names(type)).containsExactlyElementsOf(known);
        assertThat(DeclaredSettings.of(type).isDeclared()).isTrue();
    }

    @ParameterizedTest
    @MethodSource("services")
    void kindsAndBoundsAreThoseThatInitRefusesBy(Class<? extends Service> type) throws Exception {
        for (DeclaredSetting setting : DeclaredSettings.of(type).all()) {
            if (setting.kind() != Setting.Kind.TEXT) {
                ServiceConfig bad = new ServiceConfig(Map.of(setting.name(), BAD));
                List<String> refusals = new ArrayList<>();
                for (Map<String, String> settings : settings(type)) {
                    refusals.add(refusal(type, with(settings, setting.name(), BAD)));
                }
                assertThat(refusals).containsAll(DeclaredSettings.of(type).problems(bad));
            }
        }
    }

    @ParameterizedTest
    @MethodSource("services")
    void defaultsAreThoseOfTheSource(Class<? extends Service> type) throws Exception {
        Map<String, String> read = defaults(type);
        for (DeclaredSetting setting : DeclaredSettings.of(type).all()) {
            String source = read.get(setting.name());
            if (source != null) {
                assertThat(setting.standard()).as(setting.name()).isEqualTo(source);
            }
            if (!setting.standard().isEmpty()) {
                assertThat(DeclaredSettings.of(type)
                                .problems(new ServiceConfig(Map.of(setting.name(), setting.standard()))))
                        .isEmpty();
            }
        }
    }

    @ParameterizedTest
    @MethodSource("services")
    void thePageHasTheTableOfEach(Class<? extends Service> type) throws Exception {
        String page = Files.readString(Path.of("../docs/services.md"));
        String wanted =
                "## " + type.getSimpleName() + "\n\n`" + type.getName() + "`\n\n" + table(DeclaredSettings.of(type));
        assertThat(page).contains(wanted);
    }

    private static String table(DeclaredSettings settings) {
        if (settings.all().isEmpty()) {
            return "It takes no settings.\n";
        }
        StringBuilder table = new StringBuilder("| setting | default | allowed | meaning |\n|---|---|---|---|\n");
        for (DeclaredSetting each : settings.all()) {
            table.append("| `").append(each.name()).append("` | ");
            table.append(each.standard().isEmpty() ? "none" : "`" + each.standard() + "`")
                    .append(" | ");
            table.append(each.allowed()).append(" | ").append(each.text()).append(" |\n");
        }
        return table.toString();
    }

    private static List<String> names(Class<?> type) {
        return DeclaredSettings.of(type).all().stream()
                .map(DeclaredSetting::name)
                .toList();
    }

    private static Map<String, String> with(Map<String, String> settings, String name, String value) {
        Map<String, String> all = new HashMap<>(settings);
        all.put(name, value);
        return all;
    }

    /** Returns what {@code init}, or that of the control, says to settings that nobody has looked at; empty = nothing. */
    private static String refusal(Class<? extends Service> type, Map<String, String> settings) throws Exception {
        ServiceConfig config = new ServiceConfig(settings);
        ControlledBy by = type.getAnnotation(ControlledBy.class);
        ServiceControl control = by == null ? null : by.value().getConstructor().newInstance();
        Service service = type.getConstructor().newInstance();
        service.attach(host(ServiceHost.class, control));
        try {
            if (control != null) {
                control.init(config, host(ControlHost.class, null));
            }
            service.init(config);
            return "";
        } catch (IllegalArgumentException e) {
            return String.valueOf(e.getMessage());
        } finally {
            service.close();
            if (control != null) {
                control.close();
            }
        }
    }

    private static <T> T host(Class<T> type, @Nullable ServiceControl control) {
        return type.cast(Proxy.newProxyInstance(
                type.getClassLoader(), new Class<?>[] {type}, (self, method, arguments) -> switch (method.getName()) {
                    case "stream" -> new StreamInfo(StreamInfo.Transport.UDP, null, SELF);
                    case "counter" -> new Counter((String) arguments[0]);
                    case "formats" -> FORMATS;
                    case "control" -> control;
                    case "serviceName" -> "test";
                    case "nanoTime" -> 0L;
                    default -> null;
                }));
    }

    /** Returns the defaults that the sources of the service's package give to settings, but for those that are computed. */
    private static Map<String, String> defaults(Class<?> type) throws IOException {
        Map<String, String> found = new HashMap<>();
        Path folder = Path.of("src/main/java", type.getPackageName().replace('.', '/'));
        try (Stream<Path> files = Files.list(folder)) {
            for (Path file :
                    files.filter(each -> each.toString().endsWith(".java")).toList()) {
                Matcher read = READ.matcher(Files.readString(file));
                while (read.find()) {
                    if (read.group(1) == null && !file.endsWith(type.getSimpleName() + ".java")) {
                        continue; // Each has its own next one.
                    }
                    String name = read.group(1) == null ? read.group(3) : read.group(1);
                    String value = value(read.group(1) == null ? read.group(4) : read.group(2));
                    if (value != null) {
                        found.put(name, value);
                    }
                }
            }
        }
        return found;
    }

    private static @Nullable String value(String source) {
        Matcher duration = Pattern.compile("Duration\\.of(Millis|Seconds|Minutes)\\(([0-9_]+)\\)")
                .matcher(source);
        if (duration.matches()) {
            int unitMs =
                    Map.of("Millis", 1, "Seconds", 1_000, "Minutes", 60_000).get(duration.group(1));
            return Long.toString(Long.parseLong(duration.group(2).replace("_", "")) * unitMs);
        }
        Matcher number = Pattern.compile("([0-9_]+)L?(?: << ([0-9]+))?").matcher(source);
        if (number.matches()) {
            long value = Long.parseLong(number.group(1).replace("_", ""));
            return Long.toString(number.group(2) == null ? value : value << Integer.parseInt(number.group(2)));
        }
        if (source.matches("(Late|Kind|Failure|Coding|Kinds|Flush|Action|Policy|Pictures\\.Form)\\.[A-Z0-9_]+")) {
            return source.substring(source.lastIndexOf('.') + 1).toLowerCase(Locale.ROOT);
        }
        return source.matches("\"[^\"]*\"") ? source.substring(1, source.length() - 1) : null;
    }
}
