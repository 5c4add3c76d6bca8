package org.tamanoir.services.extra.crypt;

import java.nio.ByteBuffer;
import java.util.concurrent.TimeUnit;
import javax.crypto.Cipher;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/** Encrypts and decrypts a payload by AES-256-GCM as Crypt and Decrypt do, each time with another nonce. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(2)
public class CryptBenchmark {
    @Param({"16384", "1400", "64"})
    private int bytes;

    private final byte[] salt = new byte[CryptHeader.SALT_BYTES];
    private final byte[] authenticated = new byte[CryptHeader.AUTHENTICATED_BYTES];
    private final Session session = Session.of(new byte[32], salt);
    private ByteBuffer plain = ByteBuffer.allocate(0);
    private ByteBuffer encrypted = ByteBuffer.allocate(0);
    private ByteBuffer target = ByteBuffer.allocate(0);
    private long sequence;

    /** Encrypts what is decrypted. */
    @Setup
    public void encryptOne() {
        plain = ByteBuffer.allocate(bytes);
        encrypted = ByteBuffer.allocate(bytes + CryptHeader.TAG_BYTES);
        target = ByteBuffer.allocate(bytes + CryptHeader.TAG_BYTES);
        session.run(Cipher.ENCRYPT_MODE, 0, authenticated, plain, encrypted);
    }

    @Benchmark
    public int encrypt() {
        return session.run(Cipher.ENCRYPT_MODE, ++sequence, authenticated, plain, target);
    }

    @Benchmark
    public int decrypt() {
        return session.run(Cipher.DECRYPT_MODE, 0, authenticated, encrypted, target);
    }
}
