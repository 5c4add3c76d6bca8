package org.tamanoir.benchmarks.soak;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.Base64;
import java.util.List;
import org.tamanoir.benchmarks.netns.Shell;
import org.tamanoir.tls.TlsFiles;

/** Makes a certificate for the node and the far end, which both trust; with the JDK's keytool. One thread. */
final class Certificate {
    private static final String ALIAS = "soak";
    private static final String PASSWORD = "only for this run";

    private Certificate() {}

    /** Writes certificate and key as PEM files into the folder. */
    static TlsFiles make(Path folder) throws IOException {
        Path store = folder.resolve("soak.p12");
        Shell.run(List.of(
                Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                "-genkeypair",
                "-alias",
                ALIAS,
                "-keyalg",
                "EC",
                "-groupname",
                "secp256r1",
                "-dname",
                "CN=soak",
                "-ext",
                "san=ip:127.0.0.1,ip:127.0.1.4",
                "-ext",
                "bc:c=ca:true",
                "-validity",
                "30",
                "-storetype",
                "PKCS12",
                "-keystore",
                store.toString(),
                "-storepass",
                PASSWORD));
        try (InputStream in = Files.newInputStream(store)) {
            KeyStore keys = KeyStore.getInstance("PKCS12");
            keys.load(in, PASSWORD.toCharArray());
            Path certificate = folder.resolve("soak.pem");
            Path key = folder.resolve("soak.key");
            pem(certificate, "CERTIFICATE", keys.getCertificate(ALIAS).getEncoded());
            pem(key, "PRIVATE KEY", keys.getKey(ALIAS, PASSWORD.toCharArray()).getEncoded());
            return new TlsFiles(certificate, key, certificate, false);
        } catch (GeneralSecurityException e) {
            throw new IOException("no certificate for TLS: " + e.getMessage(), e);
        }
    }

    private static void pem(Path file, String label, byte[] bytes) throws IOException {
        Files.writeString(
                file,
                "-----BEGIN " + label + "-----\n"
                        + Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(bytes)
                        + "\n-----END " + label + "-----\n");
    }
}
