package org.tamanoir.deploy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collections;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.TreeMap;
import java.util.zip.CRC32;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import java.util.zip.ZipOutputStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.tamanoir.preemption.CheckpointPolicy;
import org.tamanoir.support.Seeds;

/** Jars that other tools read in another way than they look: publisher and node see what Java's ZipFile sees, or refuse. */
class JarContentsTest {
    private static final long LIMIT = 1 << 20;
    private static final String FOO = "org.example.Foo";
    private static final String FILE = "org/example/Foo.class";

    @TempDir
    private Path dir;

    private TreeMap<String, byte[]> service(String... attributes) throws IOException {
        return TestJars.entries(dir, Map.of(FOO, TestJars.forwarder(FOO, "")), attributes);
    }

    private static JarContents contents(byte[] jar) throws Exception {
        return JarContents.of(jar, "x", LIMIT, new JarMemory(() -> Long.MAX_VALUE, () -> {}));
    }

    private static CodeRefusedException refused(byte[] jar) {
        CodeRefusedException refused = catchThrowableOfType(CodeRefusedException.class, () -> contents(jar));
        assertThat(refused).isNotNull().hasMessageNotContaining("\n").hasMessageContaining("pack it again");
        assertThat(refused.refusal()).isEqualTo(Refusal.MALFORMED);
        return refused;
    }

    /** Requires that publisher and node refuse it, in the same words behind what they call it. */
    private String refusedByBoth(Map<String, byte[]> entries) throws Exception {
        Path jar = TestJars.zip(dir, "both", entries);
        CodeRefusedException published =
                catchThrowableOfType(CodeRefusedException.class, () -> ServiceJar.inspect(jar, LIMIT));
        CodeRefusedException loaded = catchThrowableOfType(
                CodeRefusedException.class,
                () -> TestJars.load(TestJars.code(jar, FOO, "1.0"), LIMIT, CheckpointPolicy.REQUIRED));
        assertThat(published).isNotNull();
        assertThat(loaded).isNotNull();
        String label = "jar '" + jar.getFileName() + "'";
        assertThat(published.getMessage().replace(label, "x"))
                .isEqualTo(loaded.getMessage().replace(FOO + ":1.0", "x"));
        return published.getMessage();
    }

    private static byte[] zip(Map<String, byte[]> entries) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (ZipOutputStream zip = new ZipOutputStream(out)) {
            for (Map.Entry<String, byte[]> entry : entries.entrySet()) {
                zip.putNextEntry(new ZipEntry(entry.getKey()));
                zip.write(entry.getValue());
            }
        }
        return out.toByteArray();
    }

    private static byte[] replaced(byte[] bytes, String from, String to, boolean last) {
        String text = new String(bytes, StandardCharsets.ISO_8859_1);
        int at = last ? text.lastIndexOf(from) : text.indexOf(from);
        return (text.substring(0, at) + to + text.substring(at + from.length())).getBytes(StandardCharsets.ISO_8859_1);
    }

    @Test
    void whereTheLocalHeaderNamesAnEntryOtherwiseTheDirectoryCounts() throws Exception {
        byte[] jar = replaced(zip(Map.of("shown.txt", new byte[] {1})), "shown.txt", "other.txt", false);
        assertThat(contents(jar).entries()).containsOnlyKeys("shown.txt");
    }

    @Test
    void aJarWithoutItsDirectoryIsRefusedByBoth() throws Exception {
        byte[] whole = zip(service());
        int directory = new String(whole, StandardCharsets.ISO_8859_1).indexOf("PK\1\2");
        assertThat(refused(Arrays.copyOf(whole, directory))).hasMessageContaining("END header not found");
        Path cut = Files.write(dir.resolve("cut.jar"), Arrays.copyOf(whole, directory));
        assertThat(catchThrowableOfType(CodeRefusedException.class, () -> ServiceJar.inspect(cut, LIMIT)))
                .hasMessageContaining("END header not found");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"/a/B.class", "../B.class", "a/../B.class", "a/./B.class", "..", "a\\B.class", "a\nB.class"})
    void namesThatLeadElsewhereAreRefused(String name) throws Exception {
        assertThat(refused(zip(Map.of(name, new byte[1])))).hasMessageContaining("absolute");
    }

    @ParameterizedTest
    @ValueSource(strings = {"a..b/C.class", ".hidden", "..a", "a.b/.c", "Foo.class", "ü/€.txt", "a//b"})
    void otherNamesAreRead(String name) throws Exception {
        assertThat(contents(zip(Map.of(name, new byte[1]))).entries()).containsOnlyKeys(name);
    }

    @Test
    void namesThatDifferInCaseAreTwo() throws Exception {
        assertThat(contents(zip(Map.of("a/Foo.class", new byte[1], "a/foo.class", new byte[2])))
                        .entries())
                .hasSize(2);
    }

    @Test
    void aManifestIsFoundWhateverItsCaseAndOnlyOnce() throws Exception {
        TreeMap<String, byte[]> entries = service("Implementation-Version: 7");
        byte[] manifest = Objects.requireNonNull(entries.remove("META-INF/MANIFEST.MF"));
        entries.put("meta-inf/Manifest.mf", manifest);
        assertThat(ServiceJar.inspect(TestJars.zip(dir, "case", entries), LIMIT).version())
                .isEqualTo("7");
        entries.put("META-INF/MANIFEST.MF", manifest);
        assertThat(refused(zip(entries))).hasMessageContaining("MANIFEST.MF twice");
    }

    /** In the directory: 16 checksum, 20 packed, 24 unpacked. */
    @Test
    void sizesAndChecksumsThatLieAreRefused() throws Exception {
        byte[] deflated = zip(Map.of("zeros", new byte[1000]));
        int directory = new String(deflated, StandardCharsets.ISO_8859_1).indexOf("PK\1\2");
        for (int[] change : new int[][] {{16, 1}, {20, -5}, {24, 1}, {24, -1}}) {
            byte[] lie = deflated.clone();
            ByteBuffer bytes = ByteBuffer.wrap(lie).order(ByteOrder.LITTLE_ENDIAN);
            bytes.putInt(directory + change[0], bytes.getInt(directory + change[0]) + change[1]);
            refused(lie);
        }
        byte[] stored = stored("a.txt", new byte[50], false);
        directory = new String(stored, StandardCharsets.ISO_8859_1).indexOf("PK\1\2");
        for (int size : new int[] {49, 51, 0}) {
            byte[] lie = stored.clone();
            ByteBuffer.wrap(lie).order(ByteOrder.LITTLE_ENDIAN).putInt(directory + 24, size);
            refused(lie);
        }
    }

    /** A jar of one stored entry; a data descriptor behind it has what its local header then lacks. */
    private static byte[] stored(String name, byte[] content, boolean hasDescriptor) {
        CRC32 crc = new CRC32();
        crc.update(content);
        int checksum = (int) crc.getValue();
        byte[] text = name.getBytes(StandardCharsets.UTF_8);
        ByteBuffer out = ByteBuffer.allocate(1024 + content.length).order(ByteOrder.LITTLE_ENDIAN);
        short flags = (short) (hasDescriptor ? 8 : 0);
        out.putInt(0x04034B50)
                .putShort((short) 20)
                .putShort(flags)
                .putShort((short) 0)
                .putInt(0);
        out.putInt(hasDescriptor ? 0 : checksum).putInt(hasDescriptor ? 0 : content.length);
        out.putInt(hasDescriptor ? 0 : content.length)
                .putShort((short) text.length)
                .putShort((short) 0);
        out.put(text).put(content);
        if (hasDescriptor) {
            out.putInt(0x08074B50).putInt(checksum).putInt(content.length).putInt(content.length);
        }
        int directory = out.position();
        out.putInt(0x02014B50)
                .putShort((short) 20)
                .putShort((short) 20)
                .putShort(flags)
                .putShort((short) 0);
        out.putInt(0).putInt(checksum).putInt(content.length).putInt(content.length);
        out.putShort((short) text.length)
                .putInt(0)
                .putShort((short) 0)
                .putShort((short) 0)
                .putInt(0)
                .putInt(0)
                .put(text);
        int end = out.position();
        out.putInt(0x06054B50).putInt(0).putShort((short) 1).putShort((short) 1);
        out.putInt(end - directory).putInt(directory).putShort((short) 0);
        return Arrays.copyOf(out.array(), out.position());
    }

    @Test
    void whatJavaReadsIsRead() throws Exception {
        byte[] content = "stored".getBytes(StandardCharsets.UTF_8);
        assertThat(contents(stored("a", content, true)).entries()).containsOnlyKeys("a");
        byte[] plain = stored("a", content, false);
        ByteArrayOutputStream behindAScript = new ByteArrayOutputStream();
        behindAScript.write("#!/bin/sh\n".getBytes(StandardCharsets.UTF_8));
        behindAScript.write(plain);
        assertThat(contents(behindAScript.toByteArray()).entries().get("a")).isEqualTo(content);

        ByteArrayOutputStream commented = new ByteArrayOutputStream();
        try (ZipOutputStream zip = new ZipOutputStream(commented)) {
            zip.setComment("PK\5\6 is how the end of a jar begins");
            zip.putNextEntry(new ZipEntry("b"));
        }
        assertThat(contents(commented.toByteArray()).entries()).containsOnlyKeys("b");
    }

    /** 70,000 entries, which is one of its reasons, are too many; a size of 64 bits is the other. */
    @Test
    void zip64IsRead() throws Exception {
        byte[] plain = stored("a", new byte[] {7}, false);
        int end = plain.length - 22;
        ByteBuffer out = ByteBuffer.allocate(plain.length + 76).order(ByteOrder.LITTLE_ENDIAN);
        ByteBuffer old = ByteBuffer.wrap(plain).order(ByteOrder.LITTLE_ENDIAN);
        long size = old.getInt(end + 12);
        long directory = old.getInt(end + 16);
        out.put(plain, 0, end);
        out.putInt(0x06064B50)
                .putLong(44)
                .putShort((short) 45)
                .putShort((short) 45)
                .putInt(0)
                .putInt(0);
        out.putLong(1).putLong(1).putLong(size).putLong(directory);
        out.putInt(0x07064B50).putInt(0).putLong(end).putInt(1);
        out.putInt(0x06054B50).putInt(0).putInt(-1).putInt(-1).putInt(-1).putShort((short) 0);
        assertThat(contents(out.array()).entries().get("a")).isEqualTo(new byte[] {7});
    }

    @Test
    void versionsForThisJavaTakeThePlaceOfOthersWhereTheManifestSaysSo() throws Exception {
        String later = "META-INF/versions/" + (Runtime.version().feature() + 1) + "/";
        Map<String, byte[]> entries = new LinkedHashMap<>();
        entries.put("META-INF/MANIFEST.MF", "Manifest-Version: 1.0\r\n\r\n".getBytes(StandardCharsets.UTF_8));
        entries.put("a", new byte[] {0});
        entries.put("META-INF/versions/9/a", new byte[] {9});
        entries.put("META-INF/versions/17/a", new byte[] {17});
        entries.put("META-INF/versions/17/new", new byte[] {18});
        entries.put(later + "a", new byte[] {99});
        assertThat(contents(zip(entries)).entries().get("a")).containsExactly(0);

        entries.put(
                "META-INF/MANIFEST.MF",
                "Manifest-Version: 1.0\r\nMulti-Release: true\r\n\r\n".getBytes(StandardCharsets.UTF_8));
        JarContents multi = contents(zip(entries));
        assertThat(multi.entries().get("a")).containsExactly(17);
        assertThat(multi.entries().get("new")).containsExactly(18);
        assertThat(multi.entries().get(later + "a")).containsExactly(99);
    }

    @Test
    void aServiceOfAMultiReleaseJarIsTheOneOfItsVersion() throws Exception {
        TreeMap<String, byte[]> entries = service("Multi-Release: true");
        entries.put("META-INF/versions/17/" + FILE, Objects.requireNonNull(entries.remove(FILE)));
        assertThat(ServiceJar.inspect(TestJars.zip(dir, "multi", entries), LIMIT)
                        .services())
                .containsExactly(FOO);
        TestJars.load(TestJars.code(TestJars.zip(dir, "multi", entries), FOO, "1.0"), LIMIT, CheckpointPolicy.REQUIRED)
                .close();
    }

    @Test
    void anyClassThatANodeRefusesIsRefusedBeforeTheSignature() throws Exception {
        TreeMap<String, byte[]> entries = service();
        for (byte[] file : List.of(new byte[0], new byte[7], "<html>".getBytes(StandardCharsets.UTF_8))) {
            entries.put("org/example/Other.class", file);
            assertThat(refusedByBoth(entries)).contains("'org/example/Other.class'", "compile it anew");
        }
        entries.put(
                "org/example/Other.class",
                Arrays.copyOf(Objects.requireNonNull(entries.get(FILE)), entries.get(FILE).length - 9));
        assertThat(refusedByBoth(entries)).contains("'org/example/Other.class'");
    }

    @Test
    void aNodeThatRunsClassesWithoutCheckpointsIsPublishedForByItsPolicy() throws Exception {
        TreeMap<String, byte[]> entries = service();
        entries.put("org/example/Other.class", subroutine());
        Path jar = TestJars.zip(dir, "preferred", entries);
        assertThat(catchThrowableOfType(CodeRefusedException.class, () -> ServiceJar.inspect(jar, LIMIT)))
                .hasMessageContaining("gets no checkpoints");
        assertThat(ServiceJar.inspect(jar, LIMIT, CheckpointPolicy.PREFERRED).services())
                .containsExactly(FOO);
        TestJars.load(TestJars.code(jar, FOO, "1.0"), LIMIT, CheckpointPolicy.PREFERRED)
                .close();
    }

    /** Returns a class of Java 5, which gets no checkpoints. */
    private static byte[] subroutine() {
        ClassWriter type = new ClassWriter(0);
        type.visit(Opcodes.V1_5, Opcodes.ACC_PUBLIC, "org/example/Other", null, "java/lang/Object", null);
        MethodVisitor code = type.visitMethod(Opcodes.ACC_STATIC, "run", "()V", null, null);
        Label subroutine = new Label();
        code.visitJumpInsn(Opcodes.JSR, subroutine);
        code.visitInsn(Opcodes.RETURN);
        code.visitLabel(subroutine);
        code.visitVarInsn(Opcodes.ASTORE, 0);
        code.visitVarInsn(Opcodes.RET, 0);
        code.visitMaxs(1, 1);
        return type.toByteArray();
    }

    @Test
    void aServiceWhoseControlCannotBeLoadedIsNone() throws Exception {
        String control = """
                public static class Control implements org.tamanoir.service.ServiceControl {
                    public void init(org.tamanoir.service.ServiceConfig c, org.tamanoir.service.ControlHost h) {}
                    public java.util.Map<String, Object> view() { return null; }
                    public java.util.Map<String, Object> change(String o, java.util.Map<String, Object> a) { return a; }
                }
                """;
        String source = TestJars.forwarder(FOO, control)
                .replace("public class Foo", "@org.tamanoir.service.ControlledBy(Foo.Control.class) public class Foo");
        TreeMap<String, byte[]> entries = TestJars.entries(dir, Map.of(FOO, source));
        entries.remove("org/example/Foo$Control.class");
        assertThat(catchThrowableOfType(
                        CodeRefusedException.class,
                        () -> ServiceJar.inspect(TestJars.zip(dir, "control", entries), LIMIT)))
                .hasMessageContaining("org.example.Foo$Control")
                .hasMessageContaining("its control");

        entries.putAll(TestJars.entries(dir, Map.of("Bar", TestJars.forwarder("Bar", ""))));
        ServiceJar found = ServiceJar.inspect(TestJars.zip(dir, "control", entries), LIMIT);
        assertThat(found.services()).containsExactly("Bar");
        assertThat(found.faults()).containsOnlyKeys(FOO);
    }

    // ---- random jars ------------------------------------------------------------------------------------------------

    /** What Java's ZipFile has, by name; null = a jar that no two readers need agree on. */
    private @Nullable Map<String, String> judged(byte[] jar) throws IOException {
        Path file = Files.write(dir.resolve("judged.jar"), jar);
        Map<String, String> all = new TreeMap<>();
        try (ZipFile zip = new ZipFile(file.toFile())) {
            for (ZipEntry entry : Collections.list(zip.entries())) {
                String name = entry.getName();
                boolean isStrange = name.startsWith("/")
                        || name.chars().anyMatch(c -> c == '\\' || Character.getType(c) == Character.CONTROL && c < 128)
                        || Arrays.stream(name.split("/")).anyMatch(part -> part.equals(".") || part.equals(".."));
                try (InputStream in = zip.getInputStream(entry)) {
                    byte[] bytes = in.readAllBytes();
                    CRC32 crc = new CRC32();
                    crc.update(bytes);
                    if (isStrange
                            || bytes.length != entry.getSize()
                            || crc.getValue() != entry.getCrc()
                            || all.put(name, HexFormat.of().formatHex(bytes)) != null) {
                        return null;
                    }
                }
            }
        } catch (IOException | IllegalArgumentException e) {
            return null;
        }
        return all.isEmpty() ? null : all;
    }

    @Test
    void damagedJarsAreReadAsJavaReadsThemOrRefused() throws Exception {
        for (long seed : Seeds.ofCommit(JarContentsTest.class, 25)) {
            Random random = new Random(seed);
            byte[] whole = random(random);
            for (int i = 0; i < 10; i++) {
                byte[] jar = Arrays.copyOf(whole, random.nextInt(5) == 0 ? random.nextInt(whole.length) : whole.length);
                for (int change = random.nextInt(3); change > 0 && jar.length > 0; change--) {
                    // Half of them in the directory and the end, which are short.
                    int behind = random.nextBoolean() ? jar.length : Math.min(jar.length, 200);
                    jar[jar.length - 1 - random.nextInt(behind)] =
                            random.nextBoolean() ? (byte) random.nextInt() : (byte) random.nextInt(3);
                }
                Map<String, String> judged = judged(jar);
                Map<String, String> found = null;
                try {
                    found = new TreeMap<>();
                    for (Map.Entry<String, byte[]> each :
                            contents(jar).entries().entrySet()) {
                        found.put(each.getKey(), HexFormat.of().formatHex(each.getValue()));
                    }
                } catch (CodeRefusedException e) {
                    assertThat(e).as("seed %d", seed).hasMessageNotContaining("\n");
                    found = null;
                }
                assertThat(found).as("seed %d", seed).isEqualTo(judged);
            }
        }
    }

    private static byte[] random(Random random) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (ZipOutputStream zip = new ZipOutputStream(out)) {
            int entries = 1 + random.nextInt(6);
            for (int i = 0; i < entries; i++) {
                byte[] content = new byte[random.nextInt(200)];
                random.nextBytes(content);
                ZipEntry entry = new ZipEntry("f" + i + (random.nextInt(4) == 0 ? "/" : ".class"));
                if (random.nextBoolean()) {
                    CRC32 crc = new CRC32();
                    crc.update(content);
                    entry.setMethod(ZipEntry.STORED);
                    entry.setSize(content.length);
                    entry.setCrc(crc.getValue());
                }
                zip.putNextEntry(entry);
                zip.write(content);
                zip.closeEntry();
            }
            zip.setComment("x".repeat(random.nextInt(30)));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return out.toByteArray();
    }
}
