package org.tamanoir.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatNoException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.tamanoir.nodeos.LevelException;
import org.tamanoir.support.Namespaces;

class LinksTest {
    private static final ByteBuffer ANY = ByteBuffer.allocate(6);
    private static final Links ETH = new Links(1, "eth0", 1, "", 2, 0, ANY);
    private static final Links BOND = new Links(2, "bond0", 1, "bond", 3, 0, ANY);
    private static final Links BRIDGE = new Links(3, "br0", 1, "bridge", 4, 0, ANY);
    private static final Links VRF = new Links(4, "blue", 1, "vrf", 0, 0, ANY);
    private static final Links MACVLAN = new Links(5, "mv0", 1, "macvlan", 0, 3, ANY);
    private static final Links OTHER = new Links(6, "eth1", 1, "", 4, 0, ANY);
    private static final List<Links> ALL = List.of(ETH, BOND, BRIDGE, VRF, MACVLAN, OTHER);

    @Test
    void interfacesThroughWhichAPacketComesOneAfterTheOtherAreRefused() {
        for (Links upper : List.of(BOND, BRIDGE, MACVLAN)) {
            assertThatThrownBy(() -> Links.checkApart(List.of(upper, ETH), ALL))
                    .isInstanceOf(LevelException.class)
                    .hasMessage("packets that come in through eth0 come in through " + upper.name()
                            + " again, and policies would act on them twice: name one of the two");
        }
    }

    @Test
    void othersAreApart() {
        assertThatNoException().isThrownBy(() -> Links.checkApart(List.of(ETH, OTHER, VRF), ALL));
        assertThatNoException().isThrownBy(() -> Links.checkApart(List.of(MACVLAN, OTHER), ALL));
    }

    /** The index of what it shares is one of the other namespace, and is another's here. */
    @Test
    @Tag("namespace")
    void whatAnInterfaceSharesInAnotherNamespaceIsNotBeneathIt() throws Exception {
        Namespaces.require("namespace");
        try (Namespaces namespaces = new Namespaces("links")) {
            String host = namespaces.add("host");
            String container = namespaces.add("container");
            namespaces.batch(
                    host,
                    "link add name shared index 77 type bridge",
                    "link add link shared name mv0 type macvlan",
                    "link set mv0 netns " + container);
            namespaces.batch(container, "link add name own index 77 type bridge");
            assertThat(namespaces.in(container, () -> Links.namedApart(List.of("mv0", "own"))))
                    .extracting(Links::beneath)
                    .containsExactly(0, 0);
        }
    }

    @Test
    @Tag("namespace")
    void interfacesAreReadAgainByTheirNumbers() throws Exception {
        Namespaces.require("namespace");
        try (Namespaces namespaces = new Namespaces("again")) {
            String host = namespaces.add("host");
            namespaces.batch(
                    host,
                    "link add name gone type bridge",
                    "link add name stays address 02:00:00:00:00:01 type bridge");
            List<Links> before = namespaces.in(host, () -> Links.named(List.of("gone", "stays")));
            namespaces.batch(host, "link del gone", "link set stays address 02:00:00:00:00:02");
            assertThat(namespaces.in(host, () -> Links.again(before)))
                    .singleElement()
                    .satisfies(link -> {
                        assertThat(link.name()).isEqualTo("stays");
                        assertThat(link.address()).isEqualTo(ByteBuffer.wrap(new byte[] {2, 0, 0, 0, 0, 2}));
                    });
        }
    }
}
