package org.tamanoir.node.config;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The files of TLS on the command line. Thread contract: filled in by picocli, then only read. */
public final class TlsOptions {
    @Option(names = "--tls-cert", paramLabel = "FILE")
    @Nullable
    public Path certificate;

    @Option(names = "--tls-key", paramLabel = "FILE")
    @Nullable
    public Path key;

    @Option(names = "--tls-trust", paramLabel = "FILE")
    @Nullable
    public Path trust;

    /** Made by picocli. */
    public TlsOptions() {}
}
