package org.tamanoir.node;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.tamanoir.format.FfsWriter;
import org.tamanoir.format.Format;
import org.tamanoir.format.Layout;
import org.tamanoir.format.RecordEncoder;

class FfsCommandTest {
    private static final Format FLIGHT = Format.builder(Layout.X86_64)
            .structure("flight")
            .field("delay", "integer", 4)
            .field("hub", "string")
            .field("n", "integer", 2)
            .field("gates", "integer[n]", 2)
            .build();
    private static final String VALUE = "{\"delay\":-5,\"hub\":\"ATL\",\"n\":2,\"gates\":[7,8]}";

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    @TempDir
    Path folder;

    private Path file;

    @BeforeEach
    void writeFile() throws IOException {
        file = folder.resolve("flights.ffs");
        try (OutputStream to = Files.newOutputStream(file);
                FfsWriter writer = FfsWriter.ofFile(to)) {
            byte[] record = new RecordEncoder(FLIGHT).encode(Map.of("delay", -5, "hub", "ATL", "gates", List.of(7, 8)));
            writer.record(FLIGHT, ByteBuffer.wrap(record), 0, record.length);
        }
    }

    private int run(Object... args) {
        out.getBuffer().setLength(0);
        err.getBuffer().setLength(0);
        String[] texts = Arrays.stream(args).map(String::valueOf).toArray(String[]::new);
        return Main.run(new PrintWriter(out, true), new PrintWriter(err, true), texts);
    }

    @Test
    void dumpPrintsALineForEachRecord() {
        assertThat(run("ffs", "dump", file)).isZero();
        assertThat(out.toString().lines())
                .containsExactly("{\"format\":\"" + FLIGHT.id() + "\",\"name\":\"flight\",\"value\":" + VALUE + "}");
    }

    @Test
    void describePrintsALineForEachFormat() {
        assertThat(run("ffs", "describe", file)).isZero();
        assertThat(out.toString().lines()).hasSize(1);
        assertThat(out.toString())
                .startsWith("{\"id\":\"" + FLIGHT.id() + "\",\"byte_order\":\"little\",\"pointer_size\":8")
                .contains("[\"gates\",\"integer[n]\",2,24]");
    }

    @Test
    void aDamagedFileIsOneLineAndAFailure() throws IOException {
        byte[] bytes = Files.readAllBytes(file);
        Files.write(file, Arrays.copyOf(bytes, bytes.length - 3));
        assertThat(run("ffs", "dump", file)).isEqualTo(1);
        assertThat(err.toString().lines()).hasSize(1);
        assertThat(err.toString()).contains("FRAMING");
    }

    @Test
    void recordsGoThroughEveryFormAndComeBack() throws IOException {
        for (String form : List.of("json", "cbor", "xml")) {
            Path other = folder.resolve("flights." + form);
            Path back = folder.resolve("back.ffs");
            assertThat(run("ffs", "convert", file, other)).isZero();
            assertThat(run("ffs", "convert", other, back, "--formats", file)).isZero();
            assertThat(Files.readAllBytes(back)).isEqualTo(Files.readAllBytes(file));
        }
    }

    @Test
    void aDocumentHasAnElementForEachRecord() throws IOException {
        Path document = folder.resolve("flights.xml");
        assertThat(run("ffs", "convert", file, document)).isZero();
        assertThat(Files.readString(document))
                .isEqualTo("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<records>\n<record format=\"" + FLIGHT.id()
                        + "\" name=\"flight\"><delay>-5</delay><hub>ATL</hub><n>2</n><gates><item>7</item>"
                        + "<item>8</item></gates></record>\n</records>\n");
    }

    @Test
    void aDamagedDocumentIsOneLineAndAFailure() throws IOException {
        Path document = Files.writeString(
                folder.resolve("bad.xml"),
                "<!DOCTYPE records [<!ENTITY hub 'ATL'>]><records><record format=\"" + FLIGHT.id()
                        + "\"><hub>&hub;</hub></record></records>");
        assertThat(run("ffs", "convert", document, folder.resolve("x.ffs"), "--formats", file))
                .isEqualTo(1);
        assertThat(err.toString().lines()).hasSize(1);
        assertThat(err.toString()).contains("bad.xml: VALUE");
    }

    @Test
    void aTableHasARowForEachRecord() throws IOException {
        Path table = folder.resolve("flights.csv");
        assertThat(run("ffs", "convert", file, table)).isZero();
        assertThat(Files.readString(table)).isEqualTo("delay,hub,n,gates\r\n-5,ATL,2,\"[7,8]\"\r\n");
    }

    @Test
    void anotherMachinesOrderHasTheSameValues() {
        Path other = folder.resolve("big.ffs");
        assertThat(run("ffs", "convert", file, other, "--order", "big", "--pointer-bytes", "4"))
                .isZero();
        assertThat(run("ffs", "dump", other)).isZero();
        assertThat(out.toString())
                .contains("\"value\":" + VALUE)
                .doesNotContain(FLIGHT.id().toString());
    }

    @Test
    void whatCannotBeDoneIsSaid() {
        assertThat(run("ffs", "convert", file, folder.resolve("x.png"))).isEqualTo(2);
        assertThat(run("ffs", "convert", file, folder.resolve("x.ffs"), "--order", "middle"))
                .isEqualTo(2);
        assertThat(run("ffs")).isEqualTo(2);
        assertThat(run("ffs", "dump", folder.resolve("none.ffs"))).isEqualTo(1);
    }
}
