package org.tamanoir.deploy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.tamanoir.deploy.TrustPolicy.Publisher;

class TrustPolicyTest {
    private static final String DIGEST = "ab".repeat(32);
    private static final SigningKey KEY = SigningKey.generate();
    private static final SigningKey OTHER = SigningKey.generate();
    private static final Manifest MANIFEST = manifest("org.example.Foo");
    private static final byte[] BYTES = MANIFEST.encode();
    private static final byte[] SIGNED = KEY.sign(BYTES).encode();
    private static final TrustPolicy POLICY = trusting("org.example.*");

    @Test
    void aTrustedPublishersCodeRuns() throws Exception {
        assertThat(POLICY.verify(BYTES, SIGNED)).isEqualTo(MANIFEST);
    }

    @ParameterizedTest
    @CsvSource({
        "*, true",
        "org.example.*, true",
        "org.*, true",
        "org.example.Foo, true",
        "org.example.Foo.*, false",
        "org.example, false",
        "org.exam.*, false",
        "org.example.Fo, false",
        "org.example.Foo2, false",
        "com.example.*, false"
    })
    void aKeyCountsForItsNamesOnly(String pattern, boolean runs) throws Exception {
        if (runs) {
            assertThat(trusting(pattern).verify(BYTES, SIGNED)).isEqualTo(MANIFEST);
        } else {
            refused(trusting(pattern), BYTES, SIGNED, Refusal.NOT_FOR_THIS_NAME, "[" + pattern + "]");
        }
    }

    @Test
    void patternsOfOneKeyAddUp() throws Exception {
        TrustPolicy policy = new TrustPolicy(
                List.of(
                        new Publisher(KEY.publisher(), List.of("a.B")),
                        new Publisher(KEY.publisher(), List.of("org.*"))),
                Set.of(),
                Set.of(),
                false);
        assertThat(policy.verify(BYTES, SIGNED)).isEqualTo(MANIFEST);
        refused(trusting(), BYTES, SIGNED, Refusal.NOT_FOR_THIS_NAME, "[]");
    }

    @Test
    void aStrangersCodeIsRefused() {
        refused(
                POLICY,
                BYTES,
                OTHER.sign(BYTES).encode(),
                Refusal.UNTRUSTED_KEY,
                OTHER.publisher().id());
        refused(
                TrustPolicy.NOBODY,
                BYTES,
                SIGNED,
                Refusal.UNTRUSTED_KEY,
                KEY.publisher().id());
    }

    @Test
    void aStrangersSignatureUnderATrustedKeyIdIsRefused() {
        Signature forged = new Signature(KEY.publisher().id(), OTHER.sign(BYTES).bytes());
        refused(
                POLICY,
                BYTES,
                forged.encode(),
                Refusal.BAD_SIGNATURE,
                KEY.publisher().id());
    }

    @Test
    void aRevokedKeyCountsNoMoreTrustedOrNot() {
        String id = KEY.publisher().id();
        refused(POLICY.revoking(id), BYTES, SIGNED, Refusal.REVOKED_KEY, id);
        refused(POLICY.revoking(id.toUpperCase(Locale.ROOT)), BYTES, SIGNED, Refusal.REVOKED_KEY, id);
        refused(TrustPolicy.NOBODY.revoking(id), BYTES, SIGNED, Refusal.REVOKED_KEY, id);
    }

    @Test
    void aRevokedJarDoesNotRunWhoeverSignsIt() {
        refused(POLICY.revoking(DIGEST), BYTES, SIGNED, Refusal.REVOKED_DIGEST, DIGEST);
        TrustPolicy unsigned = new TrustPolicy(List.of(), Set.of(), Set.of(DIGEST), true);
        refused(unsigned, BYTES, null, Refusal.REVOKED_DIGEST, DIGEST);
    }

    @Test
    void unsignedCodeRunsOnlyWhereTheOperatorSaysSo() throws Exception {
        refused(POLICY, BYTES, null, Refusal.UNSIGNED, "allow unsigned code");
        TrustPolicy open = new TrustPolicy(List.of(), Set.of(), Set.of(), true);
        assertThat(open.verify(BYTES, null)).isEqualTo(MANIFEST);
        refused(open, BYTES, SIGNED, Refusal.UNTRUSTED_KEY, KEY.publisher().id());
        refused(open, BYTES, new byte[0], Refusal.MALFORMED, "");
    }

    @Test
    void noAlteredByteOfAManifestPasses() {
        for (int i = 0; i < BYTES.length; i++) {
            byte[] altered = BYTES.clone();
            altered[i] ^= 1;
            CodeRefusedException refused =
                    catchThrowableOfType(CodeRefusedException.class, () -> POLICY.verify(altered, SIGNED));
            assertThat(refused).as("byte " + i).isNotNull();
            assertThat(refused.refusal()).isIn(Refusal.BAD_SIGNATURE, Refusal.MALFORMED, Refusal.NOT_FOR_THIS_NAME);
        }
        byte[] otherDigest = manifest("org.example.Foo", "cd".repeat(32)).encode();
        refused(POLICY, otherDigest, SIGNED, Refusal.BAD_SIGNATURE, "altered");
    }

    @Test
    void noAlteredBitOfASignaturePasses() throws Exception {
        Signature good = Signature.decode(SIGNED);
        for (int bit = 0; bit < 512; bit++) {
            byte[] altered = good.bytes();
            altered[bit / 8] ^= (byte) (1 << bit % 8);
            byte[] file = new Signature(good.keyId(), altered).encode();
            refused(POLICY, BYTES, file, Refusal.BAD_SIGNATURE, KEY.publisher().id());
        }
    }

    @Test
    void aSignatureOfAnotherManifestIsRefused() {
        byte[] other = KEY.sign(manifest("org.example.Bar").encode()).encode();
        refused(POLICY, BYTES, other, Refusal.BAD_SIGNATURE, "org.example.Foo:1.0");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "**", "*.Foo", "org.*.Foo", "org*", ".*", "org..*", "../*", "org.example.Foo\n"})
    void aPatternThatCannotBeOneIsAnError(String pattern) {
        assertThatThrownBy(() -> trusting(pattern))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("service pattern '")
                .hasMessageNotContaining("\n");
    }

    @Test
    void keyIdsAndDigestsAreChecked() {
        assertThatThrownBy(() -> POLICY.revoking("abc"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("cannot revoke 'abc'");
        assertThatThrownBy(() -> new TrustPolicy(List.of(), Set.of("x"), Set.of(), false))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("key id 'x'");
        assertThatThrownBy(() -> new TrustPolicy(List.of(), Set.of(), Set.of("x"), false))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("revoked digest 'x'");
    }

    @Test
    void limitsCombineToTheTighterOnes() {
        ServiceLimits limits = new ServiceLimits(0.5, 0).and(new ServiceLimits(2, (1L << 60) + 1));
        assertThat(limits).isEqualTo(new ServiceLimits(0.5, (1L << 60) + 1));
        assertThatThrownBy(() -> new ServiceLimits(Double.NaN, 0)).isInstanceOf(IllegalArgumentException.class);
    }

    private static TrustPolicy trusting(String... patterns) {
        return new TrustPolicy(List.of(new Publisher(KEY.publisher(), List.of(patterns))), Set.of(), Set.of(), false);
    }

    private static Manifest manifest(String name) {
        return manifest(name, DIGEST);
    }

    private static Manifest manifest(String name, String digest) {
        return new Manifest(new ServiceId(name, "1.0"), name, digest, 1, List.of("jvm"), ServiceLimits.NONE, "");
    }

    private static void refused(
            TrustPolicy policy, byte[] manifest, byte @Nullable [] signature, Refusal why, String said) {
        CodeRefusedException refused =
                catchThrowableOfType(CodeRefusedException.class, () -> policy.verify(manifest, signature));
        assertThat(refused).isNotNull().hasMessageContaining(said).hasMessageNotContaining("\n");
        assertThat(refused.refusal()).isEqualTo(why);
        assertThat(StandardCharsets.US_ASCII.newEncoder().canEncode(refused.getMessage()))
                .isTrue();
    }
}
