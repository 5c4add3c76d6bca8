package org.tamanoir.node.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.support.Waiting.eventually;

import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.tamanoir.support.Namespaces;

/** A whole node that follows the routes of its network namespace. */
@Tag("namespace")
@Timeout(120)
class FeedNodeTest {
    @TempDir
    Path folder;

    private Namespaces namespaces;
    private String here;

    @BeforeEach
    void makeNamespace() {
        Namespaces.require("bpf");
        namespaces = new Namespaces("feednode");
        here = namespaces.add("here");
        namespaces.link(here, "d0", namespaces.add("there"), "d1");
        namespaces.address(here, "d0", "192.0.2.2/24");
    }

    @AfterEach
    void removeNamespace() {
        if (namespaces != null) {
            namespaces.close();
        }
    }

    @Test
    void theKernelsRoutesCountBesideItsOwnFromTheStartUntilTheyGo() throws Exception {
        namespaces.run(here, "ip route add 10.1.0.0/16 via 192.0.2.1 proto bird table 100");
        int routes = namespaces.in(here, () -> {
            try (LiveNode node = LiveNode.start(folder, """
                    routes: [{to: 10.0.0.0/8, via: 127.0.0.1:9}]
                    routing:
                      feed: {table: 100, via: {192.0.2.1: "127.0.0.1:9"}}
                    """)) {
                int atTheStart = node.node.routes();
                namespaces.run(here, "ip route add 10.2.0.0/16 via 192.0.2.1 proto bird table 100");
                eventually().until(() -> node.node.routes() == 3);
                namespaces.run(here, "ip route flush table 100");
                eventually().until(() -> node.node.routes() == 1);
                return atTheStart;
            }
        });
        assertThat(routes).isEqualTo(2);
    }
}
