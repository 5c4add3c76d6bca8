package org.tamanoir.support;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.opentest4j.AssertionFailedError;
import org.opentest4j.TestAbortedException;

class TiersTest {
    private final String before = System.getProperty(Tiers.REQUIRED, "");

    @AfterEach
    void restore() {
        System.setProperty(Tiers.REQUIRED, before);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "udp-native", "kernelx,xkernel"})
    void skipsWithTheReasonWhatNobodyRequires(String required) {
        System.setProperty(Tiers.REQUIRED, required);

        assertThatExceptionOfType(TestAbortedException.class)
                .isThrownBy(() -> Tiers.require("kernel", false, "no /dev/kvm"))
                .withMessageContaining("tier kernel: no /dev/kvm");
    }

    @ParameterizedTest
    @ValueSource(strings = {"kernel", "udp-native, kernel", "all"})
    void failsWithTheReasonWhatIsRequired(String required) {
        System.setProperty(Tiers.REQUIRED, required);

        assertThatExceptionOfType(AssertionFailedError.class)
                .isThrownBy(() -> Tiers.require("kernel", false, "no /dev/kvm"))
                .withMessage("tier kernel: no /dev/kvm; -Drequire.tiers=" + required + " forbids to skip it");
    }

    @Test
    void runsWhatIsAvailable() {
        System.setProperty(Tiers.REQUIRED, "all");

        assertThatCode(() -> Tiers.require("kernel", true, "")).doesNotThrowAnyException();
    }
}
