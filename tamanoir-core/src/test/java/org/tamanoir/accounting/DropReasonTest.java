package org.tamanoir.accounting;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.tamanoir.anep.ParseFault;

class DropReasonTest {
    @ParameterizedTest
    @EnumSource
    void malformedPacketsAreCountedUnderTheirFaultsName(ParseFault fault) {
        assertThat(DropReason.of(fault).name()).isEqualTo(fault.name());
        assertThat(DropReason.of(fault).ordinal()).isEqualTo(fault.ordinal());
    }
}
