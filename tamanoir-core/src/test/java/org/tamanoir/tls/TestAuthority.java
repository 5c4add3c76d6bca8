package org.tamanoir.tls;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.math.BigInteger;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.Signature;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Base64;

/** A certificate authority that lives as long as a test: writes certificates and keys as PEM files. One thread. */
public final class TestAuthority {
    private static final Duration LIFE = Duration.ofDays(10);
    private static final DateTimeFormatter TIME =
            DateTimeFormatter.ofPattern("yyyyMMddHHmmss'Z'").withZone(ZoneOffset.UTC);

    private final Path folder;
    private final String name;
    private final KeyPair keys;
    private long serial = 1;

    /** An authority with an EC key; its certificate is {@code NAME.pem} in the folder. */
    public TestAuthority(Path folder, String name) {
        this.folder = folder;
        this.name = name;
        this.keys = newKeys("EC");
        write(name + ".pem", "CERTIFICATE", certificate(name, keys.getPublic(), true, Instant.now(), LIFE));
    }

    /** What others put into their trust file. */
    public Path certificate() {
        return folder.resolve(name + ".pem");
    }

    /** Files for one who shows a certificate for these hosts or addresses, signed here, and trusts this authority. */
    public TlsFiles files(String owner, boolean requireClient, String... hosts) {
        return issue(owner, "EC", Instant.now(), LIFE, requireClient, hosts);
    }

    /** The same for 127.0.0.1 and localhost. */
    public TlsFiles files(String owner) {
        return files(owner, false, "127.0.0.1", "localhost");
    }

    /** Files whose certificate ended yesterday. */
    public TlsFiles expired(String owner) {
        return issue(owner, "EC", Instant.now().minus(LIFE), LIFE.minus(Duration.ofDays(1)), false, "127.0.0.1");
    }

    /** Files with a key of this algorithm: RSA, EC or Ed25519. */
    public TlsFiles withKey(String owner, String algorithm) {
        return issue(owner, algorithm, Instant.now(), LIFE, false, "127.0.0.1");
    }

    /** For one who shows no certificate and trusts this authority. */
    public TlsFiles trusting() {
        return new TlsFiles(null, null, certificate(), false);
    }

    private TlsFiles issue(
            String owner, String algorithm, Instant from, Duration life, boolean requireClient, String... hosts) {
        KeyPair pair = newKeys(algorithm);
        Path certificate =
                write(owner + ".pem", "CERTIFICATE", certificate(owner, pair.getPublic(), false, from, life, hosts));
        Path key = write(owner + ".key", "PRIVATE KEY", pair.getPrivate().getEncoded());
        return new TlsFiles(certificate, key, certificate(), requireClient);
    }

    private Path write(String file, String label, byte[] bytes) {
        try {
            return Files.writeString(
                    folder.resolve(file),
                    "-----BEGIN " + label + "-----\n"
                            + Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(bytes) + "\n-----END "
                            + label + "-----\n");
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private static KeyPair newKeys(String algorithm) {
        try {
            KeyPairGenerator generator = KeyPairGenerator.getInstance(algorithm);
            if (!algorithm.equals("Ed25519")) {
                generator.initialize(algorithm.equals("RSA") ? 2048 : 256);
            }
            return generator.generateKeyPair();
        } catch (GeneralSecurityException e) {
            throw new AssertionError(e);
        }
    }

    // ---- X.509 version 3 (RFC 5280, section 4.1) in DER
    // --------------------------------------------------------------

    private byte[] certificate(
            String subject, PublicKey key, boolean isAuthority, Instant from, Duration life, String... hosts) {
        byte[] algorithm = sequence(oid(1, 2, 840, 10045, 4, 3, 2)); // ecdsa-with-SHA256
        Instant begin = from.minus(Duration.ofHours(1));
        byte[] content = sequence(
                tag(0xA0, integer(2)),
                integer(serial++),
                algorithm,
                distinguishedName(name),
                sequence(time(begin), time(from.plus(life))),
                distinguishedName(subject),
                key.getEncoded(),
                tag(0xA3, sequence(isAuthority ? basicConstraints() : alternativeNames(hosts))));
        return sequence(content, algorithm, bits(sign(keys.getPrivate(), content)));
    }

    private static byte[] sign(PrivateKey key, byte[] content) {
        try {
            Signature signature = Signature.getInstance("SHA256withECDSA");
            signature.initSign(key);
            signature.update(content);
            return signature.sign();
        } catch (GeneralSecurityException e) {
            throw new AssertionError(e);
        }
    }

    private static byte[] basicConstraints() {
        byte[] isTrue = tag(0x01, new byte[] {-1});
        return sequence(oid(2, 5, 29, 19), isTrue, tag(0x04, sequence(isTrue)));
    }

    private static byte[] alternativeNames(String... hosts) {
        byte[][] names = new byte[hosts.length][];
        for (int i = 0; i < hosts.length; i++) {
            boolean isAddress = hosts[i].matches("[0-9.]+|[0-9a-f:]+:[0-9a-f:]*");
            names[i] = isAddress ? tag(0x87, address(hosts[i])) : tag(0x82, hosts[i].getBytes(StandardCharsets.UTF_8));
        }
        return sequence(oid(2, 5, 29, 17), tag(0x04, sequence(names)));
    }

    private static byte[] address(String literal) {
        try {
            return InetAddress.getByName(literal).getAddress();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private static byte[] distinguishedName(String common) {
        byte[] value = tag(0x0C, common.getBytes(StandardCharsets.UTF_8));
        return sequence(tag(0x31, sequence(oid(2, 5, 4, 3), value)));
    }

    private static byte[] time(Instant instant) {
        return tag(0x18, TIME.format(instant).getBytes(StandardCharsets.US_ASCII));
    }

    private static byte[] integer(long value) {
        return tag(0x02, BigInteger.valueOf(value).toByteArray());
    }

    private static byte[] bits(byte[] bytes) {
        byte[] padded = new byte[bytes.length + 1];
        System.arraycopy(bytes, 0, padded, 1, bytes.length);
        return tag(0x03, padded);
    }

    private static byte[] oid(int first, int second, int... rest) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        out.write(first * 40 + second);
        for (int arc : rest) {
            if (arc >= 1 << 14) {
                out.write(0x80 | arc >>> 14);
            }
            if (arc >= 1 << 7) {
                out.write(0x80 | arc >>> 7 & 0x7F);
            }
            out.write(arc & 0x7F);
        }
        return tag(0x06, out.toByteArray());
    }

    private static byte[] sequence(byte[]... parts) {
        return tag(0x30, parts);
    }

    private static byte[] tag(int tag, byte[]... parts) {
        ByteArrayOutputStream content = new ByteArrayOutputStream();
        for (byte[] part : parts) {
            content.writeBytes(part);
        }
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        out.write(tag);
        int length = content.size();
        if (length >= 1 << 8) {
            out.write(0x82);
            out.write(length >>> 8);
        } else if (length >= 1 << 7) {
            out.write(0x81);
        }
        out.write(length & 0xFF);
        out.writeBytes(content.toByteArray());
        return out.toByteArray();
    }
}
