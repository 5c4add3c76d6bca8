package org.tamanoir.benchmarks.fuzz;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import org.tamanoir.deploy.CodeRefusedException;
import org.tamanoir.deploy.Manifest;
import org.tamanoir.deploy.Signature;
import org.tamanoir.deploy.SigningKey;
import org.tamanoir.deploy.TrustPolicy;

/**
 * Manifests and signature files as a repository, or a peer that says it is one, may send them. What is accepted must be
 * signed byte for byte; what is read must be the same when it is written and read again; all else is refused in one
 * line, and nothing else is thrown.
 */
final class ManifestFuzz implements FuzzTarget {
    private static final int INPUTS = 64;
    private static final String DIGEST = "0123456789abcdef".repeat(4);
    private static final String[] PIECES =
            ("{|}|[|]|:|,|\"|\\|\\u0000|null|true|-1|1e400|0.5|9223372036854775808|\"format\"|\"name\"|"
                            + "\"limits\"|\"levels\"|[[[[[[[[|{\"a\":{\"a\":|\uD800|..|/|\n|\r")
                    .split("\\|");

    private final SigningKey key = SigningKey.generate();
    private final SigningKey stranger = SigningKey.generate();
    private final byte[] manifest = manifest();
    private final byte[] signature = key.sign(manifest).encode();
    private final TrustPolicy trust = new TrustPolicy(
            List.of(new TrustPolicy.Publisher(key.publisher(), List.of("org.example.*"))), Set.of(), Set.of(), false);

    private static byte[] manifest() {
        String text = """
                {
                  "format" : 1,
                  "name" : "org.example.Foo",
                  "version" : "1.0",
                  "key" : "8da134a4c1109d43",
                  "mainClass" : "org.example.Foo",
                  "jarSha256" : "%s",
                  "jarOctets" : 30212,
                  "levels" : [ "jvm" ],
                  "limits" : { "processors" : 0.5, "allocationOctetsPerSecond" : 0 },
                  "description" : "one line"
                }
                """.formatted(DIGEST);
        try {
            return Manifest.decode(text.getBytes(StandardCharsets.UTF_8)).encode();
        } catch (CodeRefusedException e) {
            throw new IllegalStateException("the manifest of the documentation is refused", e);
        }
    }

    @Override
    public String name() {
        return "manifest";
    }

    @Override
    public long round(SplittableRandom random) throws FuzzFault {
        for (int i = 0; i < INPUTS; i++) {
            byte[] text = random.nextInt(4) == 0 ? manifest : damaged(random, manifest, Manifest.MAX_BYTES + 100);
            byte[] signed = switch (random.nextInt(4)) {
                case 0 -> random.nextInt(8) == 0 ? stranger.sign(text).encode() : signature;
                case 1, 2 -> damaged(random, signature, Signature.MAX_BYTES + 10);
                default -> random.nextInt(8) == 0 ? key.sign(text).encode() : signature;
            };
            try {
                readAgain(text);
                verify(text, signed);
            } catch (RuntimeException | StackOverflowError e) {
                throw new FuzzFault("threw: manifest " + Deliveries.hex(text) + ", signature " + text(signed), e);
            }
        }
        return 2L * INPUTS;
    }

    private static void readAgain(byte[] text) throws FuzzFault {
        Manifest read;
        try {
            read = Manifest.decode(text);
        } catch (CodeRefusedException e) {
            if (String.valueOf(e.getMessage()).lines().count() != 1) {
                throw new FuzzFault("refused in more than one line: " + e.getMessage());
            }
            return;
        }
        try {
            if (!Manifest.decode(read.encode()).equals(read)) {
                throw new FuzzFault("is another manifest when it is written and read again: " + Deliveries.hex(text));
            }
        } catch (CodeRefusedException e) {
            throw new FuzzFault("is refused when it is written again: " + Deliveries.hex(text), e);
        }
    }

    private void verify(byte[] text, byte[] signed) throws FuzzFault {
        boolean isAccepted;
        try {
            trust.verify(text, signed);
            isAccepted = true;
        } catch (CodeRefusedException e) {
            isAccepted = false;
        }
        // Ed25519 signatures are a function of key and message: only the publisher's own is good.
        if (isAccepted && !Arrays.equals(bytes(signed), key.sign(text).bytes())) {
            throw new FuzzFault(
                    "accepted what its publisher has not signed: " + Deliveries.hex(text) + ", " + text(signed));
        }
        if (!isAccepted && Arrays.equals(text, manifest) && Arrays.equals(signed, signature)) {
            throw new FuzzFault("refused what its publisher has signed");
        }
    }

    private static byte[] bytes(byte[] signed) {
        try {
            return Signature.decode(signed).bytes();
        } catch (CodeRefusedException e) {
            return new byte[0];
        }
    }

    private static String text(byte[] bytes) {
        return new String(bytes, StandardCharsets.ISO_8859_1);
    }

    private static byte[] damaged(SplittableRandom random, byte[] good, int maxBytes) {
        byte[] bytes = good;
        for (int changes = 1 + random.nextInt(4); changes > 0; changes--) {
            bytes = Mutations.text(random, bytes, PIECES, maxBytes);
        }
        return bytes;
    }

    @Override
    public void close() {}
}
