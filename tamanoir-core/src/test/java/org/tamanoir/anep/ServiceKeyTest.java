package org.tamanoir.anep;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ServiceKeyTest {
    @Test
    void isTheHeadOfTheNamesDigest() {
        // SHA-256("abc"), FIPS 180-2, appendix B.1: ba7816bf 8f01cfea ...
        assertThat(ServiceKey.of("abc")).isEqualTo(0xBA7816BF_8F01CFEAL);
        assertThat(ServiceKey.toString(0x0F01L)).isEqualTo("0000000000000f01");
        assertThat(ServiceKey.of("org.example.Monitor:1.2")).isNotEqualTo(ServiceKey.of("org.example.Monitor"));
    }
}
