package org.tamanoir.node.demo;

import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Stream;

/**
 * The beginning of a real file, as much as the demo sends.
 *
 * @param fileBytes all of the file
 * @param bytes at most {@link #MAX_BYTES}
 * @param content those bytes, mapped; use a duplicate
 * @param sha256 of those bytes, hexadecimal
 */
record DemoFile(Path path, long fileBytes, long bytes, ByteBuffer content, String sha256) {
    static final int MAX_BYTES = 64 << 20;

    /** What comes with every JDK, the largest first, and last the program itself. */
    static DemoFile find() throws IOException {
        Path home = Path.of(System.getProperty("java.home"));
        Stream<Path> ofJava = Stream.of("lib/modules", "lib/src.zip", "lib/server/libjvm.so", "bin/server/jvm.dll")
                .map(home::resolve);
        Stream<Path> ofProgram = Stream.of(System.getProperty("java.class.path").split(File.pathSeparator))
                .map(Path::of);
        List<Path> readable = Stream.concat(ofJava, ofProgram)
                .filter(Files::isRegularFile)
                .filter(Files::isReadable)
                .toList();
        if (readable.isEmpty()) {
            throw new IOException("no file to send was found below " + home + ": name one with --file");
        }
        return of(readable.get(0));
    }

    static DemoFile of(Path path) throws IOException {
        if (!Files.isRegularFile(path) || !Files.isReadable(path)) {
            throw new IOException("cannot read " + path + ": no such file, or no permission");
        }
        try (FileChannel channel = FileChannel.open(path)) {
            long bytes = Math.min(channel.size(), MAX_BYTES);
            if (bytes == 0) {
                throw new IOException(path + " is empty: name a file with bytes to send");
            }
            ByteBuffer content = channel.map(FileChannel.MapMode.READ_ONLY, 0, bytes);
            MessageDigest digest = newDigest();
            digest.update(content.duplicate());
            return new DemoFile(path, channel.size(), bytes, content, text(digest));
        }
    }

    static MessageDigest newDigest() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }

    static String text(MessageDigest digest) {
        return HexFormat.of().formatHex(digest.digest());
    }
}
