package org.tamanoir.tls;

import java.io.IOException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.Signature;
import java.security.cert.Certificate;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import javax.crypto.spec.PBEParameterSpec;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Where one side of a TLS connection finds what it shows and what it believes: PEM files.
 *
 * @param certificate the chain that this side shows, its own certificate first; null = a client that shows none
 * @param key the certificate's private key, PKCS #8, not encrypted; null where {@code certificate} is
 * @param trust certificates of the authorities that the other side's must come from; null = those of the JDK
 * @param requireClient as a server, refuse clients without a certificate from {@code trust}
 */
public record TlsFiles(
        @Nullable Path certificate,
        @Nullable Path key,
        @Nullable Path trust,
        boolean requireClient) {
    /** Reads files of TLS again. */
    @FunctionalInterface
    public interface Renewal {
        /** Takes what stands there now, or throws and keeps what it has. */
        void run() throws IOException;
    }

    private static final Logger LOG = LoggerFactory.getLogger(TlsFiles.class);
    private static final char[] NO_PASSWORD = new char[0];
    private static final int SALT_BYTES = 20;

    /** What a client needs that shows no certificate and believes the authorities of the JDK. */
    public static final TlsFiles NONE = new TlsFiles(null, null, null, false);

    /**
     * What the files held when they were read.
     *
     * @param own shows who this side is; null = it shows nothing
     * @param authorities says whom this side believes; null = the JDK's authorities
     * @param chain that this side shows, its own certificate first; empty when it shows nothing
     */
    public record Loaded(
            TlsFiles files,
            @Nullable KeyManager own,
            @Nullable TrustManager authorities,
            List<X509Certificate> chain) {
        /** Makes a context of TLS 1.2 and 1.3 that serves both sides. */
        public SSLContext context() throws IOException {
            try {
                SSLContext context = SSLContext.getInstance("TLS");
                context.init(
                        own == null ? null : new KeyManager[] {own},
                        authorities == null ? null : new TrustManager[] {authorities},
                        null);
                return context;
            } catch (GeneralSecurityException e) {
                throw new IOException("TLS: this Java cannot: " + e.getMessage() + "; check its java.security file", e);
            }
        }
    }

    /**
     * Reads the files, each once. A certificate that has expired is used, with a warning in the log: whether to believe it
     * is for the other side to say.
     *
     * @throws IOException in one line, with the file, what is wrong with it and the remedy
     */
    public Loaded load() throws IOException {
        requireWhole();
        List<X509Certificate> chain = certificate == null
                ? List.of()
                : PemFile.read("TLS certificate", certificate).certificates("TLS certificate");
        KeyManager own = certificate == null || key == null ? null : keys(chain, certificate, key)[0];
        return new Loaded(this, own, trust == null ? null : authorities(trust)[0], chain);
    }

    /**
     * Reads the files, and makes a context of them.
     *
     * @throws IOException as {@link #load}
     */
    public SSLContext context() throws IOException {
        return load().context();
    }

    private void requireWhole() throws IOException {
        if (certificate != null && key == null) {
            throw new IOException("TLS certificate " + certificate + ": its key is missing; name the key's file too");
        }
        if (certificate == null && key != null) {
            throw new IOException("TLS key " + key + ": its certificate is missing; name the certificate's file too");
        }
        if (requireClient && trust == null) {
            throw new IOException("TLS: clients must show a certificate, but no trust file says from which authority; "
                    + "name a trust file, or do not require it");
        }
    }

    private static KeyManager[] keys(List<X509Certificate> chain, Path certificateFile, Path keyFile)
            throws IOException {
        PrivateKey key = PemFile.read("TLS key", keyFile).privateKey("TLS key");
        requireFits(key, keyFile, chain.get(0), certificateFile);
        requireChain(chain, certificateFile);
        chain.forEach(each -> warnOfDates("TLS certificate", certificateFile, each));
        try {
            KeyStore store = inMemory();
            KeyStore.PrivateKeyEntry own = new KeyStore.PrivateKeyEntry(key, chain.toArray(Certificate[]::new));
            store.setEntry("own", own, unprotected());
            KeyManagerFactory factory = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
            factory.init(store, NO_PASSWORD);
            return factory.getKeyManagers();
        } catch (GeneralSecurityException e) {
            throw new IOException(
                    "TLS certificate " + certificateFile + ": this Java cannot use it: " + e.getMessage()
                            + "; make one with an EC, RSA or Ed25519 key",
                    e);
        }
    }

    private static TrustManager[] authorities(Path file) throws IOException {
        List<X509Certificate> trusted = PemFile.read("TLS trust", file).certificates("TLS trust");
        trusted.forEach(each -> warnOfDates("TLS trust", file, each));
        try {
            KeyStore store = inMemory();
            for (int i = 0; i < trusted.size(); i++) {
                store.setCertificateEntry("authority " + i, trusted.get(i));
            }
            TrustManagerFactory factory = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
            factory.init(store);
            return factory.getTrustManagers();
        } catch (GeneralSecurityException e) {
            throw new IOException(
                    "TLS trust " + file + ": this Java cannot use it: " + e.getMessage()
                            + "; check that it holds X.509 certificates",
                    e);
        }
    }

    private static KeyStore inMemory() throws GeneralSecurityException, IOException {
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, null);
        return store;
    }

    /**
     * Returns a protection without a secret, for a store that never leaves this process: the usual one derives a key from
     * the password by 10,000 rounds, each time that a key is put in or taken out.
     */
    private static KeyStore.ProtectionParameter unprotected() {
        return new KeyStore.PasswordProtection(
                NO_PASSWORD, "PBEWithHmacSHA256AndAES_256", new PBEParameterSpec(new byte[SALT_BYTES], 1));
    }

    /** Checks that the certificate's public key verifies what the key signs. */
    private static void requireFits(PrivateKey key, Path keyFile, X509Certificate own, Path certificateFile)
            throws IOException {
        boolean fits;
        try {
            String algorithm = switch (key.getAlgorithm().toUpperCase(Locale.ROOT)) {
                case "RSA" -> "SHA256withRSA";
                case "EC" -> "SHA256withECDSA";
                default -> "EdDSA";
            };
            byte[] sample = own.getTBSCertificate();
            Signature signer = Signature.getInstance(algorithm);
            signer.initSign(key);
            signer.update(sample);
            byte[] signature = signer.sign();
            signer.initVerify(own.getPublicKey());
            signer.update(sample);
            fits = signer.verify(signature);
        } catch (GeneralSecurityException e) {
            fits = false; // Keys of two algorithms.
        }
        if (!fits) {
            throw new IOException("TLS key " + keyFile + ": does not fit the first certificate of " + certificateFile
                    + " (" + name(own) + "); name its own key, and put that certificate first");
        }
    }

    private static void requireChain(List<X509Certificate> chain, Path file) throws IOException {
        for (int i = 1; i < chain.size(); i++) {
            if (!chain.get(i - 1).getIssuerX500Principal().equals(chain.get(i).getSubjectX500Principal())) {
                throw new IOException("TLS certificate " + file + ": certificate " + (i + 1) + " of the file ("
                        + name(chain.get(i)) + ") is not the issuer of the one before it ("
                        + name(chain.get(i - 1)) + "); put the own one first and each one's issuer behind it");
            }
        }
    }

    private static void warnOfDates(String what, Path file, X509Certificate certificate) {
        Instant now = Instant.now();
        Instant until = certificate.getNotAfter().toInstant();
        Instant from = certificate.getNotBefore().toInstant();
        if (now.isAfter(until)) {
            LOG.warn(
                    "{} {}: {} expired at {}: the other side will refuse it; renew it",
                    what,
                    file,
                    name(certificate),
                    until);
        } else if (now.isBefore(from)) {
            LOG.warn(
                    "{} {}: {} is not valid before {}: the other side will refuse it; check the clock",
                    what,
                    file,
                    name(certificate),
                    from);
        }
    }

    private static String name(X509Certificate certificate) {
        return certificate.getSubjectX500Principal().getName();
    }
}
