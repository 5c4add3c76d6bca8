package org.tamanoir.node;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.tamanoir.format.FfsWriter;
import org.tamanoir.format.Format;
import org.tamanoir.format.Layout;
import org.tamanoir.format.RecordEncoder;

@Tag("once")
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

    @Test
    @Tag("process")
    void convertsToStandardOutput() throws Exception {
        Process convert = Program.builder("ffs", "convert", file.toString(), "-")
                .directory(folder.toFile())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        assertThat(new String(convert.getInputStream().readAllBytes(), StandardCharsets.UTF_8))
                .contains(VALUE)
                .endsWith("\n");
        assertThat(convert.waitFor()).isZero();
        assertThat(folder.resolve("-")).doesNotExist();
    }

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
        for (List<String> command :
                List.of(List.of("dump"), List.of("publish", "--repository", "http://127.0.0.1:1"))) {
            List<Object> args = new ArrayList<>(List.of("ffs"));
            args.addAll(command);
            args.add(folder.resolve("none.ffs"));
            assertThat(run(args.toArray())).isEqualTo(1);
            assertThat(err.toString().lines())
                    .singleElement()
                    .asString()
                    .endsWith(
                            ": " + folder.resolve("none.ffs") + ": there is no such file or folder; correct the path");
        }
    }

    /** Writes three records of which the second one's text lies outside. */
    private Path damagedInTheMiddle() throws IOException {
        Path damaged = folder.resolve("damaged.ffs");
        byte[] record = new RecordEncoder(FLIGHT).encode(Map.of("delay", -5, "hub", "ATL", "gates", List.of(7, 8)));
        byte[] bad = record.clone();
        bad[FLIGHT.headerBytes() + 8 + 5] = 1;
        try (OutputStream to = Files.newOutputStream(damaged);
                FfsWriter writer = FfsWriter.ofFile(to)) {
            for (byte[] one : List.of(record, bad, record)) {
                writer.record(FLIGHT, ByteBuffer.wrap(one), 0, one.length);
            }
        }
        return damaged;
    }

    @ParameterizedTest
    @ValueSource(strings = {"ffs", "json", "cbor", "xml"})
    void aDamagedRecordIsLeftOutAndThoseBehindItAreWritten(String form) throws IOException {
        Path other = folder.resolve("other." + form);
        assertThat(run("ffs", "convert", damagedInTheMiddle(), other)).isEqualTo(1);
        assertThat(err.toString().lines()).hasSize(1);
        assertThat(err.toString()).contains("record 1: ");
        Object[] reading = form.equals("ffs")
                ? new Object[] {"ffs", "dump", other}
                : new Object[] {"ffs", "convert", other, folder.resolve("back.ffs"), "--formats", file};
        assertThat(run(reading)).isZero();
        if (!form.equals("ffs")) {
            assertThat(run("ffs", "dump", folder.resolve("back.ffs"))).isZero();
        }
        assertThat(out.toString().lines()).hasSize(2);
    }

    @Test
    void aFileThatCannotBeMadeIsLeftAsItWas() throws IOException {
        byte[] before = Files.readAllBytes(file);
        assertThat(run("ffs", "convert", file, file)).isEqualTo(2);
        Path keep = Files.writeString(folder.resolve("keep.json"), "kept");
        assertThat(run("ffs", "convert", folder.resolve("none.ffs"), keep)).isEqualTo(1);
        assertThat(run("ffs", "convert", keep, file)).isEqualTo(2);
        Path cut = folder.resolve("cut.ffs");
        Files.write(cut, Arrays.copyOf(before, before.length - 3));
        assertThat(run("ffs", "convert", cut, keep)).isEqualTo(1);
        assertThat(keep).hasContent("kept");
        assertThat(Files.readAllBytes(file)).isEqualTo(before);
        try (Stream<Path> files = Files.list(folder)) {
            assertThat(files).containsExactlyInAnyOrder(file, keep, cut);
        }
    }

    @Test
    void whatIsNoObjectIsRefused() throws IOException {
        for (String text : List.of("[{}]", "5 {}")) {
            Path input = Files.writeString(folder.resolve("list.json"), text);
            assertThat(run("ffs", "convert", input, folder.resolve("x.ffs"), "--formats", file))
                    .isEqualTo(1);
            assertThat(err.toString()).contains("where an object for each record is due");
        }
    }

    @Test
    void aForeignNameStaysOnItsLine() throws IOException {
        Format evil = Format.builder(Layout.X86_64)
                .structure("a\r\nFAKE\u001B[31m")
                .field("x\n\u001B", "string")
                .build();
        byte[] record = new RecordEncoder(evil).encode(Map.of());
        try (OutputStream to = Files.newOutputStream(file);
                FfsWriter writer = FfsWriter.ofFile(to)) {
            record[evil.headerBytes() + 5] = 1;
            writer.record(evil, ByteBuffer.wrap(record), 0, record.length);
            byte[] cut = Arrays.copyOf(record, evil.headerBytes());
            writer.record(evil, ByteBuffer.wrap(cut), 0, cut.length);
        }
        assertThat(run("ffs", "dump", file)).isEqualTo(1);
        assertThat(err.toString().lines()).hasSize(2);
        assertThat(err.toString()).doesNotContain("\u001B");
    }

    /** A pipe does not know how much is in it, and cannot be read twice. */
    @Test
    @Tag("process")
    @EnabledOnOs(OS.LINUX)
    void aPipeIsReadLikeAFile() throws Exception {
        Path pipe = folder.resolve("pipe");
        assertThat(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor())
                .isZero();
        byte[] bytes = Files.readAllBytes(file);
        Thread writer = new Thread(() -> {
            try {
                Files.write(pipe, bytes, StandardOpenOption.WRITE);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
        writer.setDaemon(true);
        writer.start();
        assertThat(run("ffs", "dump", pipe)).as(err.toString()).isZero();
        assertThat(out.toString().lines()).hasSize(1);
    }

    @Test
    void outputThatCannotBeWrittenIsAFailure() {
        for (String command : List.of("dump", "describe")) {
            err.getBuffer().setLength(0);
            assertThat(Main.run(LostOutput.writer(), new PrintWriter(err, true), "ffs", command, file.toString()))
                    .isEqualTo(1);
            assertThat(err.toString().lines())
                    .hasSize(1)
                    .first()
                    .asString()
                    .contains("standard output cannot be written");
        }
    }
}
