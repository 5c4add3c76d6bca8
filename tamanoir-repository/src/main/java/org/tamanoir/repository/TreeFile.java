package org.tamanoir.repository;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * A file of a repository as it is served.
 *
 * @param octets its content; null = it is long, and lies in {@code file}, which never changes
 * @param size in octets
 * @param etag strong, without quotes
 * @param immutable whether its address never stands for anything else
 */
record TreeFile(byte @Nullable [] octets, Path file, long size, String etag, boolean immutable, String contentType) {
    static final String JSON = "application/json";
    static final String TEXT = "text/plain; charset=utf-8";
    static final String JAR = "application/java-archive";

    static TreeFile of(Path file, byte[] octets, boolean immutable, String contentType) {
        String etag = Disk.hex(Disk.sha256().digest(octets));
        return new TreeFile(octets, file, octets.length, etag, immutable, contentType);
    }
}
