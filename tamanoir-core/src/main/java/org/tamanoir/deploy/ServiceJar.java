package org.tamanoir.deploy;

import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a jar holds, found without running any of it.
 *
 * @param sha256 of the file, 64 hexadecimal digits
 * @param octets size of the file
 * @param services its public classes that extend {@code Service} and have a public constructor without arguments
 * @param mainClass the one that its attribute {@code Tamanoir-Service} names, else the only one; null = several
 * @param version its attribute {@code Implementation-Version}; null = none
 * @param description its attribute {@code Tamanoir-Description}; empty = none
 */
public record ServiceJar(
        String sha256,
        long octets,
        List<String> services,
        @Nullable String mainClass,
        @Nullable String version,
        String description) {

    /**
     * Reads a jar.
     *
     * @param maxUnpackedOctets the most that all its entries together may unpack to
     * @throws CodeRefusedException {@link Refusal#TOO_LARGE}, {@link Refusal#MALFORMED} or
     *     {@link Refusal#NOT_A_SERVICE}
     */
    public static ServiceJar inspect(Path jar, long maxUnpackedOctets) throws CodeRefusedException {
        throw new UnsupportedOperationException("inspect");
    }

    /**
     * Checks a jar that was downloaded, as {@link #inspect} does.
     *
     * @throws CodeRefusedException like {@link #inspect}
     */
    public static void check(Path jar, long maxUnpackedOctets) throws CodeRefusedException {
        inspect(jar, maxUnpackedOctets);
    }
}
