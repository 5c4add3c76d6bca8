package org.tamanoir.services.extra.crypt;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.Arrays;
import javax.crypto.AEADBadTagException;
import javax.crypto.Cipher;
import javax.crypto.Mac;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;

/**
 * What is sent with one key and salt: its own key, and a cipher that is used again. Thread contract: one thread.
 */
final class Session {
    private static final String LABEL = "tamanoir crypt 1";

    private final SecretKeySpec key;
    private final Cipher cipher;
    private final byte[] nonce = new byte[CryptHeader.NONCE_BYTES];

    private Session(SecretKeySpec key, byte[] salt) throws GeneralSecurityException {
        this.key = key;
        cipher = Cipher.getInstance("AES/GCM/NoPadding");
        System.arraycopy(salt, 0, nonce, 0, Integer.BYTES);
    }

    /** Begins a session of this salt, the first octets of which are the stream. */
    static Session of(byte[] key, byte[] salt) {
        try {
            return underived(derived(key, salt), salt);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("every JDK has HMAC-SHA-256: " + e.getMessage(), e);
        }
    }

    /** Begins one that encrypts with this very key. */
    static Session underived(byte[] key, byte[] salt) {
        try {
            return new Session(new SecretKeySpec(key, "AES"), salt);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("every JDK has AES-GCM: " + e.getMessage(), e);
        }
    }

    private static byte[] derived(byte[] key, byte[] salt) throws GeneralSecurityException {
        Mac mac = Mac.getInstance("HmacSHA256");
        mac.init(new SecretKeySpec(key, "HmacSHA256"));
        mac.update(LABEL.getBytes(StandardCharsets.US_ASCII));
        mac.update(salt);
        return Arrays.copyOf(mac.doFinal(), key.length);
    }

    /**
     * Encrypts, or decrypts and checks.
     *
     * @param mode of {@link Cipher}
     * @return bytes written to {@code target}; negative if the octets are not what was sent
     */
    int run(int mode, long sequence, byte[] authenticated, ByteBuffer source, ByteBuffer target) {
        ByteBuffer.wrap(nonce).putLong(Integer.BYTES, sequence);
        try {
            cipher.init(mode, key, new GCMParameterSpec(CryptHeader.TAG_BYTES * Byte.SIZE, nonce));
            cipher.updateAAD(authenticated);
            if (source.hasArray() && target.hasArray()) {
                return cipher.doFinal(
                        source.array(),
                        source.arrayOffset() + source.position(),
                        source.remaining(),
                        target.array(),
                        target.arrayOffset() + target.position());
            }
            return cipher.doFinal(source.duplicate(), target.duplicate());
        } catch (AEADBadTagException e) {
            return -1;
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("AES-GCM refuses what it takes elsewhere: " + e.getMessage(), e);
        }
    }
}
