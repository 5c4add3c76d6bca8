package org.tamanoir.benchmarks;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
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
import org.tamanoir.anep.NodeOptions;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.anep.PacketSpace;
import org.tamanoir.auth.AuthKey;
import org.tamanoir.auth.AuthRules;
import org.tamanoir.auth.Authentication;
import org.tamanoir.auth.PacketGuard;

/**
 * What authentication costs a packet that lies in direct memory, as the node's packets do: nanoseconds to sign it, to
 * check it, and both with a number that has not come. {@code jdk} is {@code javax.crypto.Mac} over as many bytes in an
 * array, reused. {@code -prof gc} shows what is allocated.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(2)
public class AuthenticationBenchmark {
    private static final String SECRET = "5a".repeat(32);

    /** Whole packets. */
    @Param({"128", "200", "1400", "16384"})
    public int bytes;

    private final Packet packet = new Packet(0x544D, PacketSpace.HEAP);
    private final PacketGuard signer = guard(true);
    private final PacketGuard checker = guard(false);
    private final byte[] result = new byte[32];
    private byte[] copy = {};
    private final Mac mac = newMac();
    private long sequence;

    private static PacketGuard guard(boolean signs) {
        Authentication authentication = new Authentication(System::nanoTime);
        AuthRules.Guarded any = AuthRules.Guarded.of("any");
        authentication.change(
                new AuthRules(
                        signs ? List.of() : List.of(any),
                        List.of(),
                        signs ? List.of(new AuthRules.Signer(any, null, 7)) : List.of(),
                        AuthRules.DEFAULT_WINDOW,
                        AuthRules.DEFAULT_STREAMS),
                List.of(),
                List.of(AuthKey.of(7, SECRET)));
        return Objects.requireNonNull(authentication.guard(null));
    }

    private static Mac newMac() {
        try {
            Mac made = Mac.getInstance("HmacSHA256");
            made.init(new SecretKeySpec(SECRET.getBytes(StandardCharsets.US_ASCII), "HmacSHA256"));
            return made;
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Makes the packet, and signs it. */
    @Setup
    public void make() {
        PacketBuilder builder = new PacketBuilder().stream(1).hopBudget(16).authentication();
        ByteBuffer memory = ByteBuffer.allocateDirect(bytes);
        builder.write(memory, ByteBuffer.allocate(bytes - builder.headerLength()));
        if (packet.parse(memory, 0, bytes) != null || signer.sign(packet, null) != null) {
            throw new IllegalStateException("what is measured is not signed");
        }
        copy = new byte[bytes];
        memory.get(0, copy);
    }

    @Benchmark
    public Object sign() {
        return signer.sign(packet, null) == null ? packet : this;
    }

    /** Looks at the window, and does not move it. */
    @Benchmark
    public Object check() {
        if (checker.peek(packet) != null) {
            throw new IllegalStateException("it is signed");
        }
        return packet;
    }

    @Benchmark
    public Object signAndCheck() {
        NodeOptions.setStream(packet, 1, ++sequence);
        signer.sign(packet, null);
        if (checker.check(packet) != null) {
            throw new IllegalStateException("it is signed, and new");
        }
        return packet;
    }

    @Benchmark
    public byte[] jdk() throws GeneralSecurityException {
        mac.update(copy, 0, bytes);
        mac.doFinal(result, 0);
        return result;
    }
}
