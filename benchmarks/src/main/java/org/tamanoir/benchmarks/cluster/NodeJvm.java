package org.tamanoir.benchmarks.cluster;

import java.nio.file.Path;
import java.util.List;

/**
 * How nodes are started.
 *
 * @param java the launcher
 * @param flags of the JVM
 * @param jar of the node
 */
record NodeJvm(String java, List<String> flags, Path jar) {}
