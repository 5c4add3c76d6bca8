package org.tamanoir.format;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class IndexWriterTest {
    private static final Format POINT = Format.builder(Layout.X86_64)
            .structure("point")
            .field("x", "integer", 4)
            .build();
    private static final byte[] RECORD = new RecordEncoder(POINT).encode(Map.of("x", 7));

    @TempDir
    Path folder;

    static List<String> indexed() {
        return Vectors.files().stream()
                .filter(file -> file.has("index"))
                .map(file -> file.get("file").asString())
                .toList();
    }

    private SeekableByteChannel file() throws IOException {
        return FileChannel.open(folder.resolve("written.ffs"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
    }

    private byte[] written() throws IOException {
        return Files.readAllBytes(folder.resolve("written.ffs"));
    }

    private static List<IndexBlock> blocks(byte[] file) throws IOException {
        List<IndexBlock> blocks = new ArrayList<>();
        try (FfsReader reader = FfsReader.ofFile(new ByteArrayInputStream(file))) {
            for (ItemKind kind = reader.next(); kind != null; kind = reader.next()) {
                if (kind == ItemKind.INDEX) {
                    blocks.add(reader.index());
                }
            }
        }
        return blocks;
    }

    /** Clears what follows the last entry of each block, which is garbage. */
    private static String cleared(byte[] file) {
        ByteBuffer bytes = ByteBuffer.wrap(file);
        for (int block = 4; block < file.length; block = bytes.getInt(block + 4)) {
            int at = block + 16;
            while ((bytes.getInt(at) & 0xFF) != 255) {
                at += 12 + ((bytes.getInt(at) >>> 8) + 3 & ~3);
            }
            bytes.put(at + 4, new byte[block + 256 - at - 4]);
        }
        return HexFormat.of().formatHex(file);
    }

    @ParameterizedTest
    @MethodSource("indexed")
    void anIndexedFileIsWrittenAgainByteForByte(String name) throws IOException {
        Deque<List<Attribute>> attributes = new ArrayDeque<>();
        try (FfsReader reader = Vectors.open(name);
                FfsWriter writer = FfsWriter.ofIndexedFile(file())) {
            for (ItemKind kind = reader.next(); kind != null; kind = reader.next()) {
                switch (kind) {
                    case INDEX ->
                        reader.index().entries().stream()
                                .filter(entry -> entry.kind() == ItemKind.DATA)
                                .forEach(entry -> attributes.add(entry.attributes()));
                    case COMMENT -> writer.comment(reader.comment());
                    case FORMAT -> writer.format(reader.format());
                    case DATA -> {
                        RecordView record = reader.record();
                        writer.record(
                                record.format(), record.memory(), record.start(), record.length(), attributes.remove());
                    }
                }
            }
        }
        assertEquals(cleared(Vectors.bytes(name)), cleared(written()));
    }

    @Test
    void aFileWithoutRecordsHasABlockThatCoversNone() throws IOException {
        FfsWriter.ofIndexedFile(file()).close();
        assertEquals(List.of(new IndexBlock(260, 0, -1, List.of())), blocks(written()));
    }

    @Test
    void aFileThatWasNotClosedIsReadAllTheSame() throws IOException {
        try (SeekableByteChannel file = file();
                FfsWriter writer = FfsWriter.ofIndexedFile(file)) {
            for (int i = 0; i < 8; i++) {
                writer.record(POINT, ByteBuffer.wrap(RECORD), 0, RECORD.length);
            }
            List<IndexBlock> blocks = blocks(written());
            assertEquals(
                    List.of(6, 6), List.of(blocks.get(0).last(), blocks.get(1).last()));
        }
    }

    @Test
    void attributesThatDoNotFitABlockAreRefused() throws IOException {
        try (FfsWriter writer = FfsWriter.ofIndexedFile(file())) {
            List<Attribute> many = List.of(new Attribute(Attribute.name("text"), 3, "a".repeat(200)));
            assertThrows(
                    FormatException.class, () -> writer.record(POINT, ByteBuffer.wrap(RECORD), 0, RECORD.length, many));
            List<Attribute> other = List.of(new Attribute(Attribute.name("text"), 2, "text"));
            assertThrows(
                    FormatException.class,
                    () -> writer.record(POINT, ByteBuffer.wrap(RECORD), 0, RECORD.length, other));
        }
        assertEquals(-1, blocks(written()).get(0).last());
    }
}
