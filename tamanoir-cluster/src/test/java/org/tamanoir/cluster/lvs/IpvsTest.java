package org.tamanoir.cluster.lvs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;
import org.assertj.core.api.AbstractStringAssert;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.tamanoir.support.Tiers;

/** What is told where there is no usable ipvsadm; programs in its place say what a host without one cannot. */
class IpvsTest {
    @TempDir
    private Path folder;

    @AfterEach
    void forgetTheProgram() {
        System.clearProperty(Ipvs.PROGRAM);
    }

    @Test
    void ipvsadmThatIsMissingIsToldWithItsPackage() {
        System.setProperty(Ipvs.PROGRAM, folder.resolve("ipvsadm").toString());
        refusal().startsWith("ipvsadm is missing").endsWith("install the package ipvsadm");
    }

    @Test
    void aKernelWithoutIpvsIsTold() {
        Tiers.require(
                "no-ipvs",
                Files.isExecutable(Path.of("/usr/sbin/ipvsadm"))
                        && !Files.exists(Path.of("/proc/net/ip_vs"))
                        && !Files.isDirectory(Path.of("/lib/modules", System.getProperty("os.version"))),
                "needs ipvsadm on a kernel that has no IPVS");
        refusal()
                .isEqualTo("this kernel has no IPVS: load it as root (modprobe ip_vs), or boot a kernel that is built"
                        + " with CONFIG_IP_VS");
    }

    @Test
    void aVersionThatIsNotKnownIsTold() throws Exception {
        program("echo 'ipvsadm v1.26 2008/5/15 (compiled with popt and IPVS v1.2.1)'");
        refusal().startsWith("ipvsadm calls itself 'ipvsadm v1.26 2008").contains("1.31 or a later 1.x is needed");
        program("echo 'ipvsadm v2.0'");
        refusal().startsWith("ipvsadm calls itself 'ipvsadm v2.0'");
    }

    @Test
    void wordsOfAFailureAreRepeatedInOneLine() throws Exception {
        program("echo 'Memory allocation problem'; echo 'once more' >&2; exit 3");
        refusal().isEqualTo("ipvsadm --version ended with 3: Memory allocation problem; once more");
    }

    @Test
    void aLineThatIsNotUnderstoodIsNamed() throws Exception {
        program("case $1 in --version) echo 'ipvsadm v1.31 2019/12/24';;"
                + " --save) echo '-A -t 10.0.0.1:80 -s rr --shiny';; esac");
        refusal().startsWith("ipvsadm's line '-A -t 10.0.0.1:80 -s rr --shiny' is not understood");
    }

    @Test
    void outputWithoutEndIsCutOff() throws Exception {
        program("yes");
        refusal().isEqualTo("ipvsadm: more than 16777216 bytes of output");
    }

    @Test
    void namesOfSettingsDoNotLeadElsewhere() throws Exception {
        program("case $1 in --version) echo 'ipvsadm v1.31';; esac");
        Ipvs ipvs = Ipvs.open();
        assertThat(ipvs.read().services()).isEmpty();
        for (String name : new String[] {"../ip_forward", "", "a/b", "A"}) {
            assertThatThrownBy(() -> ipvs.set(name, "1"))
                    .isInstanceOf(ClusterException.class)
                    .hasMessageContaining("is no name of a setting");
        }
        assertThat(ipvs.settings(Set.of("no_such_setting"))).isEmpty();
        assertThatThrownBy(() -> ipvs.set("no_such_setting", "1"))
                .hasMessage("the kernel has no setting net.ipv4.vs.no_such_setting: leave it out");
    }

    private void program(String script) throws Exception {
        Path file = folder.resolve("ipvsadm");
        Files.writeString(file, "#!/bin/sh\n" + script + "\n");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwx------"));
        System.setProperty(Ipvs.PROGRAM, file.toString());
    }

    private static AbstractStringAssert<?> refusal() {
        return assertThat(org.assertj.core.api.Assertions.catchThrowableOfType(ClusterException.class, Ipvs::open)
                        .getMessage())
                .doesNotContain("\n");
    }
}
