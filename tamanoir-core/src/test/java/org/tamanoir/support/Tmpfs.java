package org.tamanoir.support;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;

/** A small file system of its own, which can be full. Needs the tier {@code tmpfs}. */
public final class Tmpfs implements AutoCloseable {
    private static final int BLOCK_BYTES = 4096;

    private final Path folder;

    private Tmpfs(Path folder) {
        this.folder = folder;
    }

    /** Mounts one, or skips the test. @param size as {@code mount} takes it: 200k */
    public static Tmpfs mount(Path folder, String size) throws IOException {
        Files.createDirectories(folder);
        boolean done = run("mount", "-t", "tmpfs", "-o", "size=" + size, "tmpfs", folder.toString()) == 0;
        Tiers.require("tmpfs", done, "a tmpfs cannot be mounted here; it needs root");
        return new Tmpfs(folder);
    }

    private static int run(String... command) throws IOException {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        process.getInputStream().readAllBytes();
        return process.onExit().join().exitValue();
    }

    /** Where it is mounted. */
    public Path folder() {
        return folder;
    }

    /** Leaves not a byte free. */
    public void fill() throws IOException {
        try (OutputStream out = Files.newOutputStream(folder.resolve("filler"))) {
            for (; ; ) {
                out.write(new byte[BLOCK_BYTES]);
            }
        } catch (IOException full) {
            if (Files.getFileStore(folder).getUsableSpace() > 0) {
                throw full;
            }
        }
    }

    /** Gives back what {@link #fill} took. */
    public void free() throws IOException {
        Files.delete(folder.resolve("filler"));
    }

    @Override
    public void close() throws IOException {
        run("umount", "-l", folder.toString());
    }
}
