package org.tamanoir.deploy;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Verified code of one version of a service on this node's disk.
 *
 * @param manifest what was signed
 * @param publisherId key id of who signed it; null = unsigned, allowed by the operator
 * @param jar the jar, with the manifest's digest when it was last looked at
 * @param source where it came from: {@code cache}, {@code repository URL} or {@code previous node URL}
 */
public record ServicePackage(Manifest manifest, @Nullable String publisherId, Path jar, String source) {}
