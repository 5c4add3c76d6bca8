package org.tamanoir.deploy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.google.common.hash.Hashing;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.TreeMap;
import java.util.zip.CRC32;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.tamanoir.support.Seeds;

class ServiceJarTest {
    private static final long LIMIT = 1 << 20;
    private static final String FOO = "org.example.Foo";

    @TempDir
    Path dir;

    @Test
    void theOnlyServiceIsFoundWithItsMetadataAndNothingRuns() throws Exception {
        String trap = "static { if (true) throw new AssertionError(\"ran\"); }";
        Path jar = TestJars.jar(
                dir,
                FOO,
                TestJars.forwarder(FOO, trap),
                "Implementation-Version: 1.2-rc1",
                "Tamanoir-Description: says nothing");

        ServiceJar found = ServiceJar.inspect(jar, LIMIT);

        assertThat(found.services()).containsExactly(FOO);
        assertThat(found.mainClass()).isEqualTo(FOO);
        assertThat(found.version()).isEqualTo("1.2-rc1");
        assertThat(found.description()).isEqualTo("says nothing");
        assertThat(found.bytes()).isEqualTo(Files.size(jar));
        assertThat(found.sha256())
                .isEqualTo(Hashing.sha256().hashBytes(Files.readAllBytes(jar)).toString());
    }

    @Test
    void servicesAreFoundThroughTheirSuperclassesAndOnlyThoseThatCanBeMade() throws Exception {
        String members = """
                    public static class Nested extends Foo {}
                    public class Inner extends Foo {}
                    public static class Asking extends Foo { public Asking(int why) {} }
                    public static class Closed extends Foo { Closed() {} }
                    static class Hidden extends Foo { public Hidden() {} }
                    public abstract static class Half extends Service {}
                    public static class Whole extends Half {
                        public Verdict process(Packet packet) { return Verdict.FORWARD; }
                    }
                    public static class Other extends Thread {}
                """;
        Path jar = TestJars.jar(dir, FOO, TestJars.forwarder(FOO, members));

        ServiceJar found = ServiceJar.inspect(jar, LIMIT);

        assertThat(found.services()).containsExactly(FOO, FOO + "$Nested", FOO + "$Whole");
        assertThat(found.mainClass()).isNull();
        assertThat(found.version()).isNull();
    }

    @Test
    void anAttributeNamesTheMainClassAmongSeveral() throws Exception {
        Map<String, String> two = Map.of(FOO, TestJars.forwarder(FOO, ""), "Bar", TestJars.forwarder("Bar", ""));
        assertThat(ServiceJar.inspect(TestJars.jar(dir, two, "Tamanoir-Service: " + FOO), LIMIT)
                        .mainClass())
                .isEqualTo(FOO);
        assertThat(refusal(TestJars.jar(dir, two, "Tamanoir-Service: org.example.Gone"), LIMIT))
                .isEqualTo(Refusal.NOT_A_SERVICE);
    }

    /** Returns a service's jar with this manifest. */
    private Path withManifest(String latin1) throws Exception {
        TreeMap<String, byte[]> entries = TestJars.entries(dir, Map.of(FOO, TestJars.forwarder(FOO, "")));
        entries.put("META-INF/MANIFEST.MF", latin1.getBytes(StandardCharsets.ISO_8859_1));
        return TestJars.zip(dir, "manifest", entries);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "Tamanoir-Description: \u00ff\u00fe x~ | it is no UTF-8 text; convert it to UTF-8",
                "Implementation-Version: 1~implementation-version: 2~ | attribute 'implementation-version' is there twice",
                "~Name: a~X: 1~x: 2~ | attribute 'x' is there twice; leave one out",
                "Tamanoir-Description: x~Implementation-Version: 1 | its last line does not end; end it with a line feed"
            })
    void aManifestThatJavaWouldChangeIsRefused(String attributes, String why) throws Exception {
        Path jar = withManifest("Manifest-Version: 1.0~".concat(attributes).replace("~", "\r\n"));

        CodeRefusedException refused =
                catchThrowableOfType(CodeRefusedException.class, () -> ServiceJar.inspect(jar, LIMIT));

        assertThat(refused.refusal()).isEqualTo(Refusal.MALFORMED);
        assertThat(refused).hasMessageContaining("META-INF/MANIFEST.MF").hasMessageContaining(why);
    }

    @Test
    void aManifestMayBreakALineWithinACharacterAndRepeatNamesInOtherSections() throws Exception {
        Path jar = withManifest("Manifest-Version: 1.0\nTamanoir-Description: \u00c3\n \u00a9\n\n"
                + "Name: a\nX: 1\n\nName: b\nX: 1\n");

        assertThat(ServiceJar.inspect(jar, LIMIT).description()).isEqualTo("é");
    }

    @Test
    void aJarWithoutAServiceIsNone() throws Exception {
        assertThat(refusal(TestJars.jar(dir, "Plain", "public class Plain {}"), LIMIT))
                .isEqualTo(Refusal.NOT_A_SERVICE);
        assertThat(refusal(TestJars.zip(dir, "empty", new TreeMap<>()), LIMIT)).isEqualTo(Refusal.MALFORMED);
    }

    @Test
    void aServiceThatLacksAClassSaysWhich() throws Exception {
        Map<String, String> sources = Map.of(
                FOO,
                TestJars.forwarder(FOO, "").replace("extends Service", "extends Service implements Other"),
                "org.example.Other",
                "package org.example; public interface Other {}");
        TreeMap<String, byte[]> entries = TestJars.entries(dir, sources);
        entries.remove("org/example/Other.class");

        CodeRefusedException refused = catchThrowableOfType(
                CodeRefusedException.class, () -> ServiceJar.inspect(TestJars.zip(dir, "lacking", entries), LIMIT));

        assertThat(refused.refusal()).isEqualTo(Refusal.NOT_A_SERVICE);
        assertThat(refused)
                .hasMessageContaining("class 'org.example.Foo' cannot be loaded: "
                        + "'java.lang.NoClassDefFoundError: org/example/Other'; pack all that it needs");
    }

    @Test
    void classesForALaterJavaAreRefusedExceptForOtherVersionsOfAMultiReleaseJar() throws Exception {
        TreeMap<String, byte[]> entries = service();
        byte[] later =
                Objects.requireNonNull(entries.get("org/example/Foo.class")).clone();
        ByteBuffer.wrap(later).putShort(6, (short) (ServiceJar.MAX_MAJOR + 1));
        entries.put("META-INF/versions/99/org/example/Foo.class", later);
        assertThat(ServiceJar.inspect(TestJars.zip(dir, "multi", entries), LIMIT)
                        .services())
                .containsExactly(FOO);

        entries.put("org/example/Foo.class", later);
        assertThat(refusal(TestJars.zip(dir, "later", entries), LIMIT)).isEqualTo(Refusal.NOT_A_SERVICE);
    }

    @Test
    void aJarThatUnpacksToMoreThanTheLimitIsTooLarge() throws Exception {
        TreeMap<String, byte[]> entries = service();
        entries.put("zeros", new byte[(int) LIMIT]);
        Path jar = TestJars.zip(dir, "zeros", entries);

        assertThat(Files.size(jar)).isLessThan(LIMIT / 50);
        assertThat(refusal(jar, LIMIT)).isEqualTo(Refusal.TOO_LARGE);
        ServiceJar.inspect(jar, 2 * LIMIT);
    }

    @Test
    void anEntryThatSaysLessThanItUnpacksToIsTooLarge() throws Exception {
        TreeMap<String, byte[]> entries = service();
        entries.put("zeros", new byte[(int) LIMIT]);
        Path jar = TestJars.zip(dir, "liar", entries);
        byte[] bytes = Files.readAllBytes(jar);
        int central = central(bytes, "zeros");
        ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).putInt(central + 24, 1000);
        Files.write(jar, bytes);

        assertThat(refusal(jar, LIMIT)).isEqualTo(Refusal.TOO_LARGE);
    }

    @Test
    void aJarOfTooManyEntriesIsTooLarge() throws Exception {
        TreeMap<String, byte[]> entries = service();
        for (int i = 0; i < JarContents.MAX_ENTRIES; i++) {
            entries.put("e" + i, new byte[0]);
        }
        assertThat(refusal(TestJars.zip(dir, "many", entries), LIMIT)).isEqualTo(Refusal.TOO_LARGE);
    }

    @Test
    void aNameThatIsThereTwiceIsMalformed() throws Exception {
        TreeMap<String, byte[]> entries = service();
        entries.put("twin-a", new byte[0]);
        entries.put("twin-b", new byte[0]);
        byte[] bytes = Files.readAllBytes(TestJars.zip(dir, "twins", entries));
        String text = new String(bytes, StandardCharsets.ISO_8859_1).replace("twin-b", "twin-a");
        Path jar = Files.write(dir.resolve("twins.jar"), text.getBytes(StandardCharsets.ISO_8859_1));
        assertThat(refusal(jar, LIMIT)).isEqualTo(Refusal.MALFORMED);
    }

    @Test
    void whatIsNoJarIsMalformed() throws Exception {
        Path file = dir.resolve("page.jar");
        assertThat(refusal(file, LIMIT)).isEqualTo(Refusal.MALFORMED);
        Files.writeString(file, "<html>not found</html>");
        assertThat(refusal(file, LIMIT)).isEqualTo(Refusal.MALFORMED);
        Files.write(file, new byte[0]);
        assertThat(refusal(file, LIMIT)).isEqualTo(Refusal.MALFORMED);
    }

    @Test
    void aStoredEntryIsReadAndOneThatWasDamagedIsMalformed() throws Exception {
        byte[] plain = "stored as it is".getBytes(StandardCharsets.UTF_8);
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (ZipOutputStream zip = new ZipOutputStream(out)) {
            ZipEntry entry = new ZipEntry("a.txt");
            CRC32 crc = new CRC32();
            crc.update(plain);
            entry.setMethod(ZipEntry.STORED);
            entry.setSize(plain.length);
            entry.setCrc(crc.getValue());
            zip.putNextEntry(entry);
            zip.write(plain);
        }
        byte[] bytes = out.toByteArray();
        assertThat(JarContents.of(bytes, "x", LIMIT, new JarMemory(() -> Long.MAX_VALUE, () -> {}))
                        .entries()
                        .get("a.txt"))
                .isEqualTo(plain);
        bytes[40]++;
        Path jar = Files.write(dir.resolve("stored.jar"), bytes);
        assertThat(refusal(jar, LIMIT)).isEqualTo(Refusal.MALFORMED);
    }

    @Test
    void aJarThatWasCutOffOrAlteredIsReadOrRefusedAndNothingElse() throws Exception {
        byte[] good = Files.readAllBytes(TestJars.zip(dir, "good", service()));
        long seed = Seeds.ofCommit(ServiceJarTest.class);
        Random random = new Random(seed);
        for (int i = 0; i < Seeds.scaled(2000); i++) {
            byte[] bytes = good.clone();
            for (int n = random.nextInt(4); n >= 0; n--) {
                bytes[random.nextInt(bytes.length)] = (byte) random.nextInt(256);
            }
            int length = random.nextInt(4) == 0 ? random.nextInt(bytes.length) : bytes.length;
            try {
                ServiceJar.inspect(Arrays.copyOf(bytes, length), "jar", LIMIT);
            } catch (CodeRefusedException e) {
                assertThat(e).hasMessageNotContaining("\n");
            } catch (RuntimeException | Error e) {
                throw new AssertionError("seed " + seed + ", round " + i, e);
            }
        }
    }

    @Test
    void superclassesInACircleAreNoServices() throws Exception {
        String members = """
                    public static class A { public A() {} }
                    public static class B { public B() {} }
                """;
        TreeMap<String, byte[]> entries = TestJars.entries(dir, Map.of(FOO, TestJars.forwarder(FOO, members)));
        for (String name : new String[] {"A", "B"}) {
            String other = "org/example/Foo$" + (name.equals("A") ? "B" : "A");
            entries.computeIfPresent("org/example/Foo$" + name + ".class", (n, bytes) -> withSuper(bytes, other));
        }
        assertThat(ServiceJar.inspect(TestJars.zip(dir, "circle", entries), LIMIT)
                        .services())
                .containsExactly(FOO);
    }

    /** The class with {@code java/lang/Object} replaced. */
    private static byte[] withSuper(byte[] classFile, String superName) {
        String text = new String(classFile, StandardCharsets.ISO_8859_1);
        String replaced = text.replace("\0\u0010java/lang/Object", "\0" + (char) superName.length() + superName);
        assertThat(replaced).isNotEqualTo(text);
        return replaced.getBytes(StandardCharsets.ISO_8859_1);
    }

    @Test
    void aClassFileThatWasAlteredIsAServiceOrNoneAndNothingElse() throws Exception {
        TreeMap<String, byte[]> entries = service();
        byte[] good = Objects.requireNonNull(entries.get("org/example/Foo.class"));
        long seed = Seeds.ofCommit(ServiceJarTest.class);
        Random random = new Random(seed);
        for (int i = 0; i < Seeds.scaled(500); i++) {
            byte[] bytes = Arrays.copyOf(good, 8 + random.nextInt(good.length - 7));
            bytes[random.nextInt(bytes.length)] = (byte) random.nextInt(256);
            entries.put("org/example/Foo.class", bytes);
            byte[] jar = Files.readAllBytes(TestJars.zip(dir, "altered", entries));
            try {
                ServiceJar.inspect(jar, "jar", LIMIT);
            } catch (CodeRefusedException e) {
                assertThat(e.refusal()).isEqualTo(Refusal.NOT_A_SERVICE);
            } catch (RuntimeException | Error e) {
                throw new AssertionError("seed " + seed + ", round " + i, e);
            }
        }
    }

    private TreeMap<String, byte[]> service() throws IOException {
        return TestJars.entries(dir, Map.of(FOO, TestJars.forwarder(FOO, "")));
    }

    private static int central(byte[] jar, String name) {
        String text = new String(jar, StandardCharsets.ISO_8859_1);
        return text.lastIndexOf(name) - 46;
    }

    private static Refusal refusal(Path jar, long maxUnpackedBytes) {
        CodeRefusedException refused =
                catchThrowableOfType(CodeRefusedException.class, () -> ServiceJar.inspect(jar, maxUnpackedBytes));
        assertThat(refused).isNotNull().hasMessageNotContaining("\n");
        return refused.refusal();
    }
}
