package org.tamanoir.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.URI;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class MembershipSettingsTest {
    @ParameterizedTest
    @CsvSource(
            nullValues = "-",
            value = {
                "http://10.0.0.7:3324, -, 10.0.0.9, http://10.0.0.7:3324",
                "http://0.0.0.0:3324, -, 10.0.0.9, http://10.0.0.9:3324",
                "https://0.0.0.0:3324, 10.0.0.8, 10.0.0.9, https://10.0.0.8:3324",
                "http://[::]:3324, -, fd00::9, http://[fd00::9]:3324",
                "http://[0:0:0:0:0:0:0:0]:1, -, 10.0.0.9, http://10.0.0.9:1",
                "http://[fd00::7]:3324, -, fd00::9, http://[fd00::7]:3324"
            })
    void theWildcardStandsForTheAddressThatLeadsToTheDirector(String admin, String address, String local, String told)
            throws Exception {
        MembershipSettings settings = new MembershipSettings(
                List.of(),
                TestDirector.TOKEN,
                "node",
                address,
                URI.create(admin),
                null,
                null,
                MembershipSettings.SetUp.OFF,
                Path.of("x"),
                null,
                MembershipSettings.Timing.DEFAULT);
        assertThat(settings.adminAt(InetAddress.getByName(local))).isEqualTo(told);
        assertThat(settings.toString()).doesNotContain(TestDirector.TOKEN);
    }
}
