package org.tamanoir.node;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.tamanoir.format.FfsWriter;
import org.tamanoir.format.Format;
import org.tamanoir.format.Layout;
import org.tamanoir.format.RecordEncoder;

/** What programs read is the same in every locale. */
@Tag("once")
@Tag("process")
class LocaleTest {
    private static final Format PLACE = Format.builder(Layout.X86_64)
            .structure("place")
            .field("name", "string")
            .field("x", "double")
            .build();

    @TempDir
    Path folder;

    @Test
    void recordsArePrintedInUtf8WithDigitsOfAscii() throws Exception {
        Path file = folder.resolve("place.ffs");
        byte[] record = new RecordEncoder(PLACE).encode(Map.of("name", "Zürich 😀", "x", 1.5));
        try (OutputStream to = Files.newOutputStream(file);
                FfsWriter writer = FfsWriter.ofFile(to)) {
            writer.record(PLACE, ByteBuffer.wrap(record), 0, record.length);
        }
        ProcessBuilder program = Program.builder("ffs", "dump", file.toString());
        program.environment().put("LC_ALL", "C");
        program.environment().put("JDK_JAVA_OPTIONS", "-Duser.language=ar -Duser.country=EG");
        Process process = program.redirectError(ProcessBuilder.Redirect.DISCARD).start();
        String printed = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);

        assertThat(process.waitFor()).isZero();
        assertThat(printed).endsWith("\"value\":{\"name\":\"Zürich 😀\",\"x\":1.5}}\n");
    }
}
