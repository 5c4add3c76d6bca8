package org.tamanoir.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.tamanoir.nodeos.NodeOs;

/** Levels of another process, which is killed or may not use them. */
@Tag("process")
@Tag("namespace")
class BridgeProcessTest {
    private static final int ANOTHER_PORT = 5555;

    private BridgeNet net;
    private String before;

    @BeforeEach
    void makeNet() throws Exception {
        BpfBed.require();
        net = new BridgeNet("process", ANOTHER_PORT);
        before = net.traces();
    }

    @AfterEach
    void closeNet() throws Exception {
        if (net != null) {
            openAndClose(); // cleans up behind children
            String after = net.traces();
            net.close();
            assertThat(after).as("left behind").isEqualTo(before);
        }
    }

    private void openAndClose() throws Exception {
        net.close(net.net.namespaces().in(net.net.router(), () -> KernelBridge.open(BridgeNet.config())));
    }

    @Test
    void packetsPassAKilledNodeAndTheNextCleansUp() throws Exception {
        try (BridgeChild child = new BridgeChild(net.net.router())) {
            assertThat(child.lines())
                    .anyMatch(line -> line.startsWith("tc: true: tc on rc"))
                    .anyMatch(line -> line.startsWith("xdp: true: xdp on rc"));
            assertThat(net.traces()).contains("tmn_tc", "fwmark 0x54000000", "prog/xdp", "/sys/fs/bpf/tamanoir-");
            child.kill();
        }
        assertThat(net.traces()).contains("tmn_tc", "fwmark 0x54000000", "/sys/fs/bpf/tamanoir-");
        for (int stream = 1; stream <= 4; stream++) {
            net.exchange(NodeOs.NONE, stream, 50);
        }
        assertThat(net.atServer).hasSize(200);

        openAndClose();
        assertThat(net.traces()).isEqualTo(before);
        net.exchange(NodeOs.NONE, 1, 50);
        assertThat(net.atServer).hasSize(250);
    }

    @Test
    void whatALivingNodeHasIsNotCleanedUp() throws Exception {
        try (BridgeChild child = new BridgeChild(net.net.router())) {
            assertThat(child.lines()).isNotEmpty();
            openAndClose();
            assertThat(net.traces()).contains("tmn_tc", "fwmark 0x54000000", "prog/xdp");
        }
    }

    @Test
    void withoutPrivilegeEachLevelSaysWhatItNeeds() throws Exception {
        assertThat(linesOfChildWithout("-all"))
                .contains(
                        "jvm: true: always there",
                        "tc: false: needs CAP_NET_ADMIN: run the node as root or give it that capability",
                        "xdp: false: needs CAP_NET_ADMIN: run the node as root or give it that capability")
                .anyMatch(line -> line.startsWith("no level can be used: xdp: needs CAP_NET_ADMIN"));
    }

    @Test
    void withoutTheRightToLoadProgramsTheNetworkAloneIsNotEnough() throws Exception {
        assertThat(linesOfChildWithout("-bpf,-sys_admin"))
                .contains("tc: false: needs CAP_BPF: run the node as root or give it that capability");
    }

    private List<String> linesOfChildWithout(String capabilities) throws Exception {
        // Entering the namespace needs a right that the child shall not have: it is there from the start.
        try (BridgeChild child = new BridgeChild(
                BridgeChild.HERE,
                "ip",
                "netns",
                "exec",
                net.net.router(),
                "setpriv",
                "--bounding-set",
                capabilities,
                "--inh-caps",
                capabilities)) {
            return child.lines();
        }
    }
}
