package org.tamanoir.node.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.support.Waiting.eventually;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
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
@Tag("once")
@Tag("process")
@Tag("namespace")
@Timeout(120)
class DscpTest {
    private static final int PACKETS = 60;
    private static final int PAYLOAD_BYTES = 200;
    private static final int IP_AND_UDP_BYTES = 28;

    @TempDir
    Path folder;

    /** What tshark sees. */
    private static final class Capture implements AutoCloseable {
        private final Process process;
        private final BufferedReader lines;
        /** To itself, so that it shows in the capture once that goes on. */
        private final DatagramSocket probe;

        /** Begins to look; returns when it does. @param bytes of payload, in this field */
        Capture(String filter, String shown, String bytes) throws IOException {
            Tshark.require();
            probe = new DatagramSocket(0, InetAddress.getLoopbackAddress());
            int port = probe.getLocalPort();
            String[] command = {"tshark", "-i", "lo", "-l", "-n", "-T", "fields", "-a", "duration:60"};
            process = new ProcessBuilder(Stream.concat(
                                    Stream.of(command),
                                    Stream.of(
                                            "-f",
                                            "(" + filter + ") or udp dst port " + port,
                                            "-Y",
                                            "(" + shown + ") or udp.dstport == " + port,
                                            "-e",
                                            "ip.dsfield.dscp",
                                            "-e",
                                            bytes,
                                            "-e",
                                            "udp.dstport"))
                            .toList())
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
            eventually()
                    .until(
                            () -> { // It says that it captures a moment before it does.
                                probe.send(new DatagramPacket(new byte[1], 1, probe.getLocalSocketAddress()));
                                return lines.ready();
                            });
        }

        /** Packets by code point, once there are so many; those that the kernel would cut up are counted by their bytes. */
        Map<Integer, Integer> codePoints(int packets, int headerBytes, int packetBytes) throws IOException {
            Map<Integer, Integer> counts = new TreeMap<>();
            for (int seen = 0; seen < packets; ) {
                String line = lines.readLine();
                assertThat(line).as("after %d packets: %s", seen, counts).isNotNull();
                String[] fields = line.split("\t", -1);
                if (fields[2].equals(Integer.toString(probe.getLocalPort()))) {
                    continue;
                }
                int some = (Integer.parseInt(fields[1]) - headerBytes) / packetBytes;
                counts.merge(Integer.parseInt(fields[0]), some, Integer::sum);
                seen += some;
            }
            return counts;
        }

        @Override
        public void close() {
            process.destroyForcibly();
            probe.close();
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
                        new Capture("udp and dst port " + sink.address().getPort(), "udp", "ip.len");
                LiveNode node = LiveNode.start(folder, LiveNode.route(sink.address(), true) + qos(links));
                AnepSender sender = AnepSender.udp(node.udp())) {
            List<PacketBuilder> flows = flows();
            for (int i = 0; i < PACKETS; i++) {
                for (PacketBuilder flow : flows) {
                    sender.send(flow.build(ByteBuffer.allocate(PAYLOAD_BYTES).putInt(0, i)));
                }
                sender.flush();
            }
            sink.await(4 * PACKETS);
            assertThat(capture.codePoints(
                            4 * PACKETS, IP_AND_UDP_BYTES, flows.get(0).headerLength() + PAYLOAD_BYTES))
                    .containsEntry(46, PACKETS)
                    .containsEntry(34, 2 * PACKETS)
                    .containsEntry(0, PACKETS);
        }
    }

    @Test
    void aConnectionHasTheCodePointOfItsFirstPacket() throws Exception {
        try (LiveSink sink = new LiveSink();
                Capture capture =
                        new Capture("tcp and dst port " + sink.address().getPort(), "tcp.len > 0", "tcp.len");
                LiveNode node = LiveNode.start(folder, LiveNode.route(sink.address(), true) + qos(""));
                AnepSender voice = AnepSender.tcp(node.tcp());
                AnepSender video = AnepSender.tcp(node.tcp())) {
            voice.send(flows().get(0).build(ByteBuffer.allocate(PAYLOAD_BYTES).putInt(0, 1)));
            voice.flush();
            sink.await(1);
            video.send(flows().get(1).build(ByteBuffer.allocate(PAYLOAD_BYTES).putInt(0, 2)));
            video.flush();
            sink.await(2);
            assertThat(capture.codePoints(2, 0, flows().get(0).headerLength() + PAYLOAD_BYTES))
                    .containsEntry(46, 1)
                    .containsEntry(34, 1);
        }
    }
}
