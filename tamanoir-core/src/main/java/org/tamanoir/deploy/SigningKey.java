package org.tamanoir.deploy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.PrivateKey;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Set;

/** A publisher's private key with its public one, Ed25519, in a PEM file (PKCS #8, not encrypted). Immutable. */
public final class SigningKey {
    private static final String LABEL = "PRIVATE KEY";

    private final PrivateKey key;
    private final PublisherKey publisher;

    private SigningKey(PrivateKey key, PublisherKey publisher) {
        this.key = key;
        this.publisher = publisher;
    }

    /** Returns a new pair. */
    public static SigningKey generate() {
        try {
            KeyPair pair = KeyPairGenerator.getInstance(PublisherKey.ALGORITHM).generateKeyPair();
            return new SigningKey(pair.getPrivate(), new PublisherKey(pair.getPublic()));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("every Java platform from 15 on has Ed25519", e);
        }
    }

    /**
     * Reads {@code file}, and the public key from {@code file} with {@code .pub} behind its name.
     *
     * @throws IOException in one line; also when both do not belong together
     */
    public static SigningKey read(Path file) throws IOException {
        try {
            byte[] der = Pem.decode(LABEL, Pem.read(file));
            PrivateKey key =
                    KeyFactory.getInstance(PublisherKey.ALGORITHM).generatePrivate(new PKCS8EncodedKeySpec(der));
            SigningKey pair = new SigningKey(key, PublisherKey.read(publicFile(file)));
            byte[] probe = "do both belong together".getBytes(StandardCharsets.US_ASCII);
            if (!pair.publisher.verifies(probe, pair.sign(probe))) {
                throw new IOException("key file " + file + ": it does not belong to " + publicFile(file)
                        + "; put the public key that was made with it there");
            }
            return pair;
        } catch (IllegalArgumentException e) {
            throw new IOException("key file " + file + ": " + e.getMessage(), e);
        } catch (GeneralSecurityException e) {
            throw new IOException(
                    "key file " + file + ": no private key of kind Ed25519 in PKCS #8; make one with keygen", e);
        }
    }

    /**
     * Writes {@code file}, readable by its owner alone, and {@code file.pub}; overwrites neither. On file systems
     * without POSIX permissions the folder's own decide who reads it.
     *
     * @throws IOException in one line
     */
    public void write(Path file) throws IOException {
        boolean posix = file.getFileSystem().supportedFileAttributeViews().contains("posix");
        Path publicFile = publicFile(file);
        if (Files.exists(publicFile)) {
            throw exists(publicFile);
        }
        create(file, Pem.encode(LABEL, key.getEncoded()), posix ? "rw-------" : "");
        try {
            create(publicFile, publisher.pem(), posix ? "rw-r--r--" : "");
        } catch (IOException e) {
            Files.deleteIfExists(file); // Half a pair, made just now, would stand in the way of the next attempt.
            throw e;
        }
    }

    private static void create(Path file, String text, String permissions) throws IOException {
        FileAttribute<?>[] attributes = permissions.isEmpty()
                ? new FileAttribute<?>[0]
                : new FileAttribute<?>[] {
                    PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(permissions))
                };
        Set<StandardOpenOption> options = Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
        try (FileChannel channel = FileChannel.open(file, options, attributes)) {
            ByteBuffer bytes = ByteBuffer.wrap(text.getBytes(StandardCharsets.US_ASCII));
            while (bytes.hasRemaining()) {
                channel.write(bytes);
            }
            channel.force(true);
        } catch (FileAlreadyExistsException e) {
            throw exists(file);
        } catch (FileSystemException e) {
            throw new IOException(
                    "key file " + file + ": cannot be written: no such folder, or no permission; choose another", e);
        }
    }

    private static IOException exists(Path file) {
        return new IOException("key file " + file + ": it exists and is not overwritten; choose another name");
    }

    private static Path publicFile(Path file) {
        return file.resolveSibling(file.getFileName() + ".pub");
    }

    /** Returns the public key. */
    public PublisherKey publisher() {
        return publisher;
    }

    /** Signs these bytes. */
    public Signature sign(byte[] message) {
        try {
            java.security.Signature signer = java.security.Signature.getInstance(PublisherKey.ALGORITHM);
            signer.initSign(key);
            signer.update(message);
            return new Signature(publisher.id(), signer.sign());
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("every Java platform from 15 on has Ed25519", e);
        }
    }
}
