package org.tamanoir.node.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.support.Waiting.eventually;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.client.AnepSender;
import org.tamanoir.support.Namespaces;
import tools.jackson.databind.JsonNode;

/** A whole node whose datagrams leave through a tree of HTB, which sorts them by their code points. */
@Tag("once")
@Tag("namespace")
@Timeout(120)
class TrafficControlNodeTest {
    private static final int PORT = 3322;

    @TempDir
    Path folder;

    private Namespaces namespaces;
    private String here;
    private String there;

    @BeforeEach
    void makeTree() {
        Namespaces.require("namespace", "tc");
        namespaces = new Namespaces("htb");
        here = namespaces.add("here");
        there = namespaces.add("there");
        namespaces.link(here, "d0", there, "d1");
        namespaces.address(here, "d0", "192.0.2.1/24");
        namespaces.address(there, "d1", "192.0.2.2/24");
        namespaces.neighbour(here, "d0", there, "d1", "192.0.2.2");
        for (String command : new String[] {
            "qdisc add dev d0 root handle 1: htb default 20",
            "class add dev d0 parent 1: classid 1:1 htb rate 10mbit",
            "class add dev d0 parent 1:1 classid 1:10 htb rate 1mbit ceil 1mbit prio 1",
            "class add dev d0 parent 1:1 classid 1:20 htb rate 1mbit ceil 10mbit prio 2",
            "filter add dev d0 parent 1: protocol ip u32 match ip tos 0xb8 0xfc flowid 1:10"
        }) {
            namespaces.run(here, "tc " + command);
        }
    }

    @AfterEach
    void removeNamespaces() {
        if (namespaces != null) {
            namespaces.close();
        }
    }

    private String tcClass() {
        return namespaces
                .run(here, "tc class show dev d0")
                .lines()
                .filter(line -> line.startsWith("class htb 1:10 "))
                .findFirst()
                .orElseThrow();
    }

    /** Returns the bits that come to the receiver in a second or so, a second. */
    private double receivedBitsPerSecond() {
        long bytes = receivedBytes();
        long startNs = System.nanoTime();
        long endNs = startNs + Duration.ofSeconds(1).toNanos();
        eventually().until(() -> System.nanoTime() > endNs);
        return (receivedBytes() - bytes) * 8e9 / (System.nanoTime() - startNs);
    }

    private static JsonNode rule(LiveNode node, int number) {
        return node.get("/v1/traffic-control").get("rules").get(number);
    }

    private static int changes(LiveNode node) {
        return rule(node, 0).get("changes").asInt();
    }

    private static String state(LiveNode node) {
        return rule(node, 0).get("state").asString();
    }

    private long receivedBytes() {
        return Long.parseLong(namespaces
                .run(there, "ip -s link show dev d1")
                .lines()
                .map(String::strip)
                .toList()
                .get(3)
                .split(" +")[0]);
    }

    @Test
    void aCongestedClassGetsMoreUnderLoadAndWhatItHadAfterwards() throws Exception {
        AtomicBoolean ends = new AtomicBoolean();
        String end = namespaces.in(here, () -> {
            try (LiveNode node = LiveNode.start(folder, """
                            listen: {tcp: [0], udp: [0]}
                            routes: [{to: 0.0.0.0/0, via: "192.0.2.2:%d", kind: host}]
                            deploy: {cache: %s}
                            qos: {classes: [{name: high, class-of-service: 3, dscp: ef}, {name: rest}]}
                            services: [{name: org.tamanoir.services.Monitor, config: {mark: none}}]
                            traffic-control:
                              - {interface: d0, class: "1:10", when: {backlog-over: 16KiB}, rate: 8Mbit/s, after: 1s, hold: 2s}
                            """.formatted(PORT, folder.resolve("cache")))) {
                Thread load = new Thread(() -> load(node.udp(), ends), "load");
                load.setDaemon(true);
                load.start();
                eventually().until(() -> tcClass().contains("rate 8Mbit ceil 8Mbit"));
                // Of 1 Mbit/s that it had a class sends no more than that, whatever the host is busy with.
                eventually().until(() -> receivedBitsPerSecond() > 1_500_000);
                assertThat(state(node)).isEqualTo("changed");
                ends.set(true);
                eventually().until(() -> tcClass().contains("rate 1Mbit ceil 1Mbit"));
                eventually().until(() -> changes(node) % 2 == 0); // counted after tc has ended
                return tcClass();
            } finally {
                ends.set(true);
            }
        });
        assertThat(end).contains("prio 1 rate 1Mbit ceil 1Mbit burst 1600b cburst 1600b");
    }

    /** About 4 Mbit/s. */
    private static void load(InetSocketAddress node, AtomicBoolean ends) {
        try (AnepSender sender = AnepSender.udp(node)) {
            PacketBuilder packets = LiveSink.packets(org.tamanoir.services.Monitor.class.getName())
                    .destination(InetAddress.getByName("192.0.2.2"))
                    .classOfService(3, 0);
            while (!ends.get()) {
                sender.send(packets.build(ByteBuffer.allocate(1000)));
                sender.flush();
                LockSupport.parkNanos(2_000_000);
            }
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void theEndOfTheNodeGivesBackWhatTheClassHad() throws Exception {
        namespaces.in(here, () -> {
            AtomicBoolean ends = new AtomicBoolean();
            try (LiveNode node = LiveNode.start(folder, """
                            listen: {tcp: [0], udp: [0]}
                            routes: [{to: 0.0.0.0/0, via: "192.0.2.2:%d", kind: host}]
                            deploy: {cache: %s}
                            qos: {classes: [{name: high, class-of-service: 3, dscp: ef}, {name: rest}]}
                            services: [{name: org.tamanoir.services.Monitor, config: {mark: none}}]
                            traffic-control:
                              - {interface: d0, class: "1:10", when: {backlog-over: 16KiB}, rate: 2Mbit/s}
                              - {interface: d9, class: "1:10", when: {backlog-over: 16KiB}, rate: 2Mbit/s}
                            """.formatted(PORT, folder.resolve("cache")))) {
                Thread load = new Thread(() -> load(node.udp(), ends), "load");
                load.setDaemon(true);
                load.start();
                eventually().until(() -> tcClass().contains("rate 2Mbit ceil 2Mbit"));
                assertThat(rule(node, 1).get("why").asString()).startsWith("no interface d9: correct the name");
            } finally {
                ends.set(true);
            }
            return "";
        });
        assertThat(tcClass()).contains("rate 1Mbit ceil 1Mbit");
    }
}
