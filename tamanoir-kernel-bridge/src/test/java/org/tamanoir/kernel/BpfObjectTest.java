package org.tamanoir.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.tamanoir.nodeos.LevelException;

@Tag("namespace")
class BpfObjectTest {
    /** r0 = r9, of a register that nothing was written to. */
    private static final long READS_AN_EMPTY_REGISTER = 0x90bfL;

    @BeforeAll
    static void needsBpf() {
        BpfBed.require();
    }

    @Test
    void aBadProgramIsRefusedWithTheVerifiersLastWord() throws Exception {
        byte[] elf = bytes("tamanoir_tc.bpf.o");
        ByteBuffer.wrap(elf).order(ByteOrder.LITTLE_ENDIAN).putLong(sectionAt(elf, "tc"), READS_AN_EMPTY_REGISTER);
        assertThatThrownBy(() -> BpfObject.load("bad.bpf.o", elf, Map.of()))
                .isInstanceOf(LevelException.class)
                .hasMessage("the kernel refused BPF object bad.bpf.o: verifier: R9 !read_ok");
    }

    @Test
    void whatIsNoObjectIsRefusedInOneLine() {
        assertThatThrownBy(
                        () -> BpfObject.load("text.bpf.o", "no object".getBytes(StandardCharsets.US_ASCII), Map.of()))
                .isInstanceOf(LevelException.class)
                .hasMessageStartingWith("BPF object text.bpf.o cannot be opened: ")
                .hasMessageNotContaining("\n");
        assertThatThrownBy(() -> BpfObject.load("none.bpf.o", Map.of()))
                .isInstanceOf(LevelException.class)
                .hasMessageContaining("see native/build.sh");
    }

    @Test
    void theLastWordsAreFoundInWhatLibbpfSays() {
        String said = "libbpf: prog 'p': BPF program load failed: Invalid argument\n"
                + "libbpf: prog 'p': -- BEGIN PROG LOAD LOG --\n0: (bf) r0 = r9\nR9 !read_ok\n"
                + "processed 1 insns (limit 1000000)\n-- END PROG LOAD LOG --\nlibbpf: failed to load object\n";
        assertThat(LibBpf.lastWords(said, "")).isEqualTo("verifier: R9 !read_ok");
        assertThat(LibBpf.lastWords("libbpf: map 'm': failed to create: Operation not permitted(-1)\n", ""))
                .isEqualTo("map 'm': failed to create: Operation not permitted(-1)");
        assertThat(LibBpf.lastWords("", "No such file")).isEqualTo("No such file");
    }

    private static byte[] bytes(String name) throws Exception {
        try (InputStream in = Objects.requireNonNull(BpfObject.class.getResourceAsStream("bpf/" + name))) {
            return in.readAllBytes();
        }
    }

    /** Where a section of a 64-bit ELF file begins. */
    private static int sectionAt(byte[] elf, String name) {
        ByteBuffer file = ByteBuffer.wrap(elf).order(ByteOrder.LITTLE_ENDIAN);
        int headers = (int) file.getLong(40);
        int headerBytes = file.getShort(58);
        int names = (int) file.getLong(headers + file.getShort(62) * headerBytes + 24);
        byte[] wanted = (name + "\0").getBytes(StandardCharsets.US_ASCII);
        for (int i = 0; i < file.getShort(60); i++) {
            int header = headers + i * headerBytes;
            int at = names + file.getInt(header);
            if (Arrays.equals(elf, at, at + wanted.length, wanted, 0, wanted.length)) {
                return (int) file.getLong(header + 24);
            }
        }
        throw new AssertionError("no section " + name);
    }
}
