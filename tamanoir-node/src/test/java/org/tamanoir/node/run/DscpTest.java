package org.tamanoir.node.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.client.AnepSender;
import org.tamanoir.node.admin.Tshark;
import org.tamanoir.services.Monitor;
import org.tamanoir.support.Tiers;

/** Code points of packets that leave a node, in a capture of the loopback interface. */
@Timeout(90)
class DscpTest {
    private static final int PACKETS = 60;

    @TempDir
    Path folder;

    /** What tshark sees until it has seen enough. */
    private static final class Capture implements AutoCloseable {
        private final Process process;
        private final BufferedReader lines;

        /** Begins to look; returns when it does. */
        Capture(String filter, String shown, int packets) throws IOException {
            Tshark.require();
            process = new ProcessBuilder(
                            "tshark",
                            "-i",
                            "lo",
                            "-l",
                            "-f",
                            filter,
                            "-Y",
                            shown,
                            "-c",
                            Integer.toString(packets),
                            "-T",
                            "fields",
                            "-e",
                            "ip.dsfield.dscp",
                            "-a",
                            "duration:60")
                    .start();
            BufferedReader said =
                    new BufferedReader(new InputStreamReader(process.getErrorStream(), StandardCharsets.UTF_8));
            String line = said.readLine();
            StringBuilder all = new StringBuilder();
            while (line != null && !line.contains("Capturing on")) {
                all.append(line).append(' ');
                line = said.readLine();
            }
            Tiers.require("namespace", line != null, "tshark may not capture here: " + all);
            lines = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
        }

        /** Packets by code point. */
        TreeMap<Integer, Integer> codePoints(int packets) throws IOException {
            TreeMap<Integer, Integer> counts = new TreeMap<>();
            for (int i = 0; i < packets; i++) {
                String line = lines.readLine();
                assertThat(line).as("packet %d", i).isNotNull();
                counts.merge(Integer.parseInt(line.strip()), 1, Integer::sum);
            }
            return counts;
        }

        @Override
        public void close() throws InterruptedException {
            process.destroyForcibly();
            process.waitFor(10, TimeUnit.SECONDS);
        }
    }

    private static String qos(String more) {
        return "qos: {classes: [{name: voice, class-of-service: 0, dscp: ef}, "
                + "{name: video, class-of-service: [1, 2], dscp: 34}, {name: rest, class-of-service: 3}]" + more + "}\n"
                + "services: [{name: " + Monitor.class.getName() + ", config: {mark: none}}]\n";
    }

    private static List<PacketBuilder> flows() throws IOException {
        List<PacketBuilder> flows = new ArrayList<>();
        for (int classOfService = 0; classOfService < 4; classOfService++) {
            flows.add(LiveSink.packets(Monitor.class.getName()).classOfService(classOfService, 0));
        }
        return flows;
    }

    /** Without a link, over one, and over one that most of them have to wait for. */
    @ParameterizedTest
    @ValueSource(
            strings = {"", ", links: [{name: l, rate: 1Gbit/s}]", ", links: [{name: l, rate: 2Mbit/s, burst: 2KiB}]"})
    void eachDatagramLeavesWithTheCodePointOfItsClass(String links) throws Exception {
        try (LiveSink sink = new LiveSink();
                Capture capture =
                        new Capture("udp and dst port " + sink.address().getPort(), "udp", 4 * PACKETS);
                LiveNode node = LiveNode.start(folder, LiveNode.route(sink.address(), true) + qos(links));
                AnepSender sender = AnepSender.udp(node.udp())) {
            List<PacketBuilder> flows = flows();
            for (int i = 0; i < PACKETS; i++) {
                for (PacketBuilder flow : flows) {
                    sender.send(flow.build(ByteBuffer.allocate(200).putInt(0, i)));
                }
                sender.flush();
            }
            sink.await(4 * PACKETS);
            assertThat(capture.codePoints(4 * PACKETS))
                    .containsEntry(46, PACKETS)
                    .containsEntry(34, 2 * PACKETS)
                    .containsEntry(0, PACKETS);
        }
    }

    @Test
    void aConnectionHasTheCodePointOfItsFirstPacket() throws Exception {
        try (LiveSink sink = new LiveSink();
                Capture capture =
                        new Capture("tcp and dst port " + sink.address().getPort(), "tcp.len > 0", 2);
                LiveNode node = LiveNode.start(folder, LiveNode.route(sink.address(), true) + qos(""));
                AnepSender voice = AnepSender.tcp(node.tcp());
                AnepSender video = AnepSender.tcp(node.tcp())) {
            voice.send(flows().get(0).build(ByteBuffer.allocate(200).putInt(0, 1)));
            voice.flush();
            sink.await(1);
            video.send(flows().get(1).build(ByteBuffer.allocate(200).putInt(0, 2)));
            video.flush();
            sink.await(2);
            assertThat(capture.codePoints(2)).containsEntry(46, 1).containsEntry(34, 1);
        }
    }
}
