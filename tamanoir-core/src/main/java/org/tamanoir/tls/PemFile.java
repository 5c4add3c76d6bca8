package org.tamanoir.tls;

import com.google.common.io.MoreFiles;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.InvalidKeySpecException;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A file in the textual encoding of RFC 7468: text that is passed over, and blocks of
 * {@code -----BEGIN label-----}, base64, {@code -----END label-----}.
 *
 * <p>Any thread.
 */
final class PemFile {
    /** The authorities that a system trusts come to about 220 KiB. */
    static final int MAX_BYTES = 1 << 20;

    private static final Pattern BLOCK =
            Pattern.compile("-----BEGIN ([A-Z0-9 ]{1,64})-----(.*?)-----END ([A-Z0-9 ]{1,64})-----", Pattern.DOTALL);
    private static final List<String> KEY_ALGORITHMS = List.of("RSA", "EC", "EdDSA");
    private static final String PLAIN_KEY = "; write it anew: openssl pkcs8 -topk8 -nocrypt -in %s -out NEW.pem";

    private final Path path;
    private final List<Block> blocks;

    private record Block(String label, byte[] bytes) {}

    private PemFile(Path path, List<Block> blocks) {
        this.path = path;
        this.blocks = blocks;
    }

    /**
     * Reads a file.
     *
     * @param what names the file in errors, as in {@code TLS key}
     * @throws IOException in one line, with the file and the remedy
     */
    static PemFile read(String what, Path path) throws IOException {
        byte[] bytes = bytes(what, path);
        if (bytes.length > MAX_BYTES) {
            throw new IOException(what + " " + path + ": more than " + MAX_BYTES
                    + " bytes; a PEM file of certificates or a key is wanted");
        }
        String text = new String(bytes, StandardCharsets.ISO_8859_1);
        List<Block> blocks = new ArrayList<>();
        Matcher matcher = BLOCK.matcher(text);
        while (matcher.find()) {
            String label = matcher.group(1);
            if (!label.equals(matcher.group(3))) {
                throw new IOException(what + " " + path + ": BEGIN " + label + " ends with END " + matcher.group(3)
                        + "; copy the file anew");
            }
            blocks.add(new Block(label, decode(what, path, matcher.group(2))));
        }
        if (blocks.isEmpty()) {
            throw new IOException(what + " " + path + ": is not PEM, no line '-----BEGIN ...-----' with its END; "
                    + "convert it, as with openssl x509 -inform DER or openssl pkcs12 -nodes");
        }
        return new PemFile(path, blocks);
    }

    /** Returns at most one byte more than a file may have. */
    private static byte[] bytes(String what, Path path) throws IOException {
        try {
            return MoreFiles.asByteSource(path).slice(0, MAX_BYTES + 1).read();
        } catch (NoSuchFileException e) {
            throw new IOException(what + " " + path + ": there is no such file; check the path", e);
        } catch (AccessDeniedException e) {
            throw new IOException(what + " " + path + ": may not be read; check owner and mode of the file", e);
        } catch (IOException e) {
            throw new IOException(what + " " + path + ": cannot be read: " + e.getMessage() + "; name a PEM file", e);
        }
    }

    private static byte[] decode(String what, Path path, String text) throws IOException {
        // Older formats of encrypted keys have headers in front of the base64.
        if (text.contains("ENCRYPTED")) {
            throw new IOException(
                    what + " " + path + ": the key is encrypted" + String.format(Locale.ROOT, PLAIN_KEY, path));
        }
        try {
            return Base64.getMimeDecoder().decode(text);
        } catch (IllegalArgumentException e) {
            throw new IOException(what + " " + path + ": is damaged: " + e.getMessage() + "; copy it anew", e);
        }
    }

    /** Returns the certificates in the file, at least one, in its order. */
    List<X509Certificate> certificates(String what) throws IOException {
        List<X509Certificate> certificates = new ArrayList<>();
        for (Block block : blocks) {
            if (block.label.equals("CERTIFICATE") || block.label.equals("X509 CERTIFICATE")) {
                certificates.add(certificate(what, block.bytes, certificates.size() + 1));
            }
        }
        if (certificates.isEmpty()) {
            throw new IOException(what + " " + path + ": holds no certificate but " + blocks.get(0).label
                    + "; is it the file of the key?");
        }
        return certificates;
    }

    private X509Certificate certificate(String what, byte[] bytes, int number) throws IOException {
        try {
            return (X509Certificate)
                    CertificateFactory.getInstance("X.509").generateCertificate(new ByteArrayInputStream(bytes));
        } catch (CertificateException e) {
            throw new IOException(
                    what + " " + path + ": certificate " + number + " of the file is damaged: " + e.getMessage()
                            + "; copy it anew",
                    e);
        }
    }

    /** Returns the one private key in the file: RSA, EC or EdDSA. */
    PrivateKey privateKey(String what) throws IOException {
        for (Block block : blocks) {
            switch (block.label) {
                case "PRIVATE KEY" -> {
                    return privateKey(what, block.bytes);
                }
                case "ENCRYPTED PRIVATE KEY" ->
                    throw new IOException(
                            what + " " + path + ": the key is encrypted" + String.format(Locale.ROOT, PLAIN_KEY, path));
                case "RSA PRIVATE KEY", "EC PRIVATE KEY", "DSA PRIVATE KEY", "OPENSSH PRIVATE KEY" ->
                    throw new IOException(what + " " + path + ": holds " + block.label + ", not PKCS #8 (PRIVATE KEY)"
                            + String.format(Locale.ROOT, PLAIN_KEY, path));
                default -> {
                    // Certificates and EC parameters may stand in the same file.
                }
            }
        }
        throw new IOException(what + " " + path + ": holds no PRIVATE KEY but " + blocks.get(0).label
                + "; is it the file of the certificate?");
    }

    private PrivateKey privateKey(String what, byte[] bytes) throws IOException {
        PKCS8EncodedKeySpec encoded = new PKCS8EncodedKeySpec(bytes);
        for (String algorithm : KEY_ALGORITHMS) {
            try {
                return KeyFactory.getInstance(algorithm).generatePrivate(encoded);
            } catch (InvalidKeySpecException e) {
                // Of another algorithm, or damaged.
            } catch (GeneralSecurityException e) {
                throw new IllegalStateException("every JDK from 15 on has " + KEY_ALGORITHMS, e);
            }
        }
        throw new IOException(
                what + " " + path + ": the key is damaged, or none of RSA, EC and Ed25519; make one of these, as with "
                        + "openssl genpkey -algorithm ed25519");
    }
}
