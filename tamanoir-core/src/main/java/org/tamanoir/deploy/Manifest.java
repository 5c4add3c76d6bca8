package org.tamanoir.deploy;

import java.util.List;

/**
 * What a publisher says about one version of a service, and signs: the file {@code manifest.json}.
 *
 * <pre>{@code
 * {
 *   "format" : 1,
 *   "name" : "org.example.Foo",
 *   "version" : "1.0",
 *   "key" : "a5df6ac8e1b7c3e0",              first 64 bits of SHA-256 over "org.example.Foo:1.0"
 *   "mainClass" : "org.example.Foo",
 *   "jarSha256" : "<64 hexadecimal digits>",
 *   "jarOctets" : 30212,
 *   "levels" : [ "jvm" ],
 *   "limits" : { "processors" : 0.5, "allocationOctetsPerSecond" : 0 },
 *   "description" : "one line"
 * }
 * }</pre>
 *
 * @param id which version of which service
 * @param mainClass the class that extends {@code Service}
 * @param jarSha256 64 hexadecimal digits in lower case
 * @param jarOctets size of the jar
 * @param levels where it can run: {@code jvm}, later {@code kernel} and {@code nic}
 * @param limits what it needs at most; the node's own limits hold besides
 * @param description one line, may be empty
 */
public record Manifest(
        ServiceId id,
        String mainClass,
        String jarSha256,
        long jarOctets,
        List<String> levels,
        ServiceLimits limits,
        String description) {
    /** The largest manifest that is read. */
    public static final int MAX_OCTETS = 16 * 1024;

    /** The file's octets; the same manifest always gives the same. */
    public byte[] encode() {
        throw new UnsupportedOperationException("encode");
    }

    /**
     * Reads a manifest and checks every field; unknown fields are refused, except under {@code "x-..."} names.
     *
     * @throws CodeRefusedException {@link Refusal#MALFORMED}, with the field, its value and the remedy
     */
    public static Manifest decode(byte[] json) throws CodeRefusedException {
        throw new UnsupportedOperationException("decode");
    }
}
