package org.tamanoir.repository;

import java.nio.file.Path;

/**
 * A jar that is wholly there, in the tree's staging folder, and has been digested.
 *
 * @param sha256 of what is in the file, 64 hexadecimal digits
 * @param bytes its size
 */
record StagedJar(Path file, String sha256, long bytes) {}
