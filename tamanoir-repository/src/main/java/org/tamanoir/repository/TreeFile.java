package org.tamanoir.repository;

import com.google.common.hash.Hashing;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * A file of a repository as it is served.
 *
 * @param bytes its content; null = it is long, and lies in {@code file}, which never changes
 * @param size in bytes
 * @param etag strong, without quotes
 * @param immutable whether its address never stands for anything else
 */
record TreeFile(byte @Nullable [] bytes, Path file, long size, String etag, boolean immutable, String contentType) {
    static final String JSON = "application/json";
    static final String TEXT = "text/plain; charset=utf-8";
    static final String JAR = "application/java-archive";

    static TreeFile of(Path file, byte[] bytes, boolean immutable, String contentType) {
        String etag = Hashing.sha256().hashBytes(bytes).toString();
        return new TreeFile(bytes, file, bytes.length, etag, immutable, contentType);
    }
}
