package org.tamanoir.node;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The files of TLS on the command line. Thread contract: filled in by picocli, then only read. */
final class TlsOptions {
    @Option(
            names = "--tls-cert",
            paramLabel = "FILE",
            description = "PEM file of the certificate to show in TLS, with its chain behind it.")
    @Nullable
    Path certificate;

    @Option(
            names = "--tls-key",
            paramLabel = "FILE",
            description = "PEM file of that certificate's private key, PKCS #8, not encrypted.")
    @Nullable
    Path key;

    @Option(
            names = "--tls-trust",
            paramLabel = "FILE",
            description = "PEM file of the authorities that others' certificates must come from in TLS. Default: those "
                    + "of the JDK.")
    @Nullable
    Path trust;

    /** Made by picocli. */
    TlsOptions() {}
}
