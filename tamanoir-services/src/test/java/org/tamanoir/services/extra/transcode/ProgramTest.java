package org.tamanoir.services.extra.transcode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.tamanoir.support.Waiting.eventually;

import com.sun.management.ThreadMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.service.StreamInfo.Transport;
import org.tamanoir.services.Packets;
import org.tamanoir.support.Tiers;
import org.tamanoir.testkit.ServiceHarness;

/** Programs that are everywhere, as codecs that work and as such that do not. */
@Tag("process")
@Timeout(120)
class ProgramTest {
    @TempDir
    Path folder;

    @BeforeEach
    void needAShell() {
        Tiers.require("native", Files.isExecutable(Path.of("/bin/sh")), "no /bin/sh here");
    }

    private static PacketBuilder flow(int stream) {
        return Packets.full(Transcode.class.getName()).timestamps().stream(stream);
    }

    /** However slow this host is, a program that works has the longest time to go on. */
    private static Map<String, String> config(String command, String... more) {
        Map<String, String> config =
                new HashMap<>(Map.of("mode", "program", "command", command, "timeout-ms", "20000"));
        for (int i = 0; i < more.length; i += 2) {
            config.put(more[i], more[i + 1]);
        }
        return config;
    }

    /** The command that runs this text. */
    private String script(String text) throws IOException {
        return "/bin/sh " + Files.writeString(folder.resolve("codec.sh"), text);
    }

    private static ServiceHarness start(Transport transport, Map<String, String> config) {
        return ServiceHarness.start(new Transcode(), transport, config, Duration.ofSeconds(60));
    }

    @ParameterizedTest
    @EnumSource(Transport.class)
    void whatAProgramMakesOfAFlowIsTheFlow(Transport transport) {
        byte[] text = Packets.text(new Random(1), 300_000);
        List<Packet> packets = Packets.cut(flow(3), text, 1000);
        try (ServiceHarness harness = start(transport, config("/bin/cat", "max-payload", "700", "buffer", "1048576"))) {
            harness.send(packets).endOfStream();
            assertThat(harness.payloads()).isEqualTo(text);
            assertThat(harness.drops()).isEmpty();
            for (int i = 0; i < harness.packets().size(); i++) {
                assertThat(harness.packets().get(i).sequence())
                        .isEqualTo(packets.get(0).sequence() + i);
                assertThat(harness.packets().get(i).payloadLength()).isLessThanOrEqualTo(700);
            }
            Packets.assertWellFormed(harness.packets());
            assertThat(harness.count("processes-failed")).isZero();
            eventually()
                    .untilAsserted(() -> assertThat(harness.control().view()).containsEntry("processes", 0));
        }
    }

    /** Its output comes when its input has ended, and is more than its pipe holds. */
    @Test
    void aProgramThatWaitsForTheEndOfItsInputIsWaitedFor() throws IOException {
        byte[] text = Packets.text(new Random(1), 300_000);
        try (ServiceHarness harness = start(Transport.TCP, config(script("exec gzip -9 -n -c")))) {
            harness.send(Packets.cut(flow(3), text, 60_000)).endOfStream();
            assertThat(Packets.gunzip(harness.payloads())).isEqualTo(text);
        }
    }

    @Test
    void whatComesOutLeavesWhileTheFlowGoesOn() {
        try (ServiceHarness harness = start(Transport.UDP, config("/bin/cat"))) {
            harness.send(flow(3).build(ByteBuffer.wrap(new byte[] {1, 2, 3})));
            eventually().untilAsserted(() -> {
                harness.advance(Duration.ofMillis(100));
                assertThat(harness.payloads()).containsExactly(1, 2, 3);
            });
        }
    }

    @Test
    void eachFlowHasAProcessOfItsOwnUpToTheirBound() {
        try (ServiceHarness harness = start(Transport.UDP, config("/bin/cat", "processes", "2"))) {
            harness.send(flow(1).build(ByteBuffer.wrap(new byte[] {1})));
            harness.send(flow(2).build(ByteBuffer.wrap(new byte[] {2})));
            harness.send(flow(3).build(ByteBuffer.wrap(new byte[] {3})));
            assertThat(harness.drops()).containsExactly("no codec process is free");
            assertThat(harness.control().view()).containsEntry("processes", 2).containsEntry("max-processes", 2);
            eventually().untilAsserted(() -> {
                harness.advance(Duration.ofMillis(100));
                assertThat(harness.packets().stream().map(Packet::streamId)).containsExactlyInAnyOrder(1, 2);
            });
        }
    }

    /** A flow that is silent ends: its process gets the end of its input, and what it says then leaves. */
    @Test
    void aSilentFlowEndsAndGivesItsPlaceBack() throws IOException {
        Map<String, String> config = config(script("cat; echo end"), "processes", "1", "idle-ms", "5000");
        try (ServiceHarness harness = start(Transport.UDP, config)) {
            harness.send(flow(1).build(ByteBuffer.wrap(new byte[] {'a', ' '})));
            harness.advance(Duration.ofMillis(4000));
            harness.send(flow(2).build(ByteBuffer.wrap(new byte[] {2})));
            assertThat(harness.drops()).hasSize(1);
            harness.advance(Duration.ofMillis(1500));
            eventually().untilAsserted(() -> {
                harness.advance(Duration.ofMillis(10));
                assertThat(harness.control().view()).containsEntry("processes", 0);
            });
            assertThat(new String(harness.payloads(), StandardCharsets.US_ASCII))
                    .isEqualTo("a end\n");
            harness.send(flow(2).build(ByteBuffer.wrap(new byte[] {2})));
            assertThat(harness.drops()).hasSize(1);
            assertThat(harness.count("processes-started")).isEqualTo(2);
            assertThat(harness.count("processes-failed")).isZero();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"drop", "pass"})
    void whileAProgramThatDiedIsNotStartedAnewPacketsFollowThePolicy(String failure) throws IOException {
        Map<String, String> config = config(script("head -c 4; kill -9 $$"), "failure", failure);
        try (ServiceHarness harness = start(Transport.UDP, config)) {
            PacketBuilder flow = flow(1);
            harness.send(flow.build(ByteBuffer.wrap(new byte[] {1, 2, 3, 4})));
            eventually().untilAsserted(() -> {
                harness.advance(Duration.ofMillis(1));
                assertThat(harness.count("processes-failed")).isEqualTo(1);
            });
            assertThat(harness.payloads()).containsExactly(1, 2, 3, 4);
            harness.send(flow.build(ByteBuffer.wrap(new byte[] {5})));
            if (failure.equals("pass")) {
                assertThat(harness.payloads()).containsExactly(1, 2, 3, 4, 5);
            } else {
                assertThat(harness.drops()).containsExactly("codec process failed");
            }
            assertThat(harness.count("processes-started")).isEqualTo(1);
            harness.advance(Duration.ofMillis(1000)).send(flow.build(ByteBuffer.wrap(new byte[] {6})));
            assertThat(harness.count("processes-started")).isEqualTo(2);
        }
    }

    /** It takes no input and gives nothing. */
    @Test
    void aProgramThatHangsIsKilled() throws IOException {
        Map<String, String> config = config(script("sleep 1000"), "timeout-ms", "300");
        byte[] much = Packets.noise(new Random(1), 600_000);
        try (ServiceHarness harness = start(Transport.TCP, config)) {
            harness.send(Packets.cut(flow(1), much, 60_000));
            assertThat(harness.count("processes-failed")).isPositive();
            assertThat(harness.drops()).isNotEmpty().containsOnly("codec process failed");
            eventually()
                    .untilAsserted(() -> assertThat(harness.control().view()).containsEntry("processes", 0));
        }
    }

    /** A link whose target is text: a program may write no byte to a file, and a pipe would be waited for without a bound. */
    private Path pids() {
        return folder.resolve("pids");
    }

    /** Takes the processes that a script has told, once. */
    private List<Long> takePids() throws IOException {
        eventually().until(() -> Files.isSymbolicLink(pids()));
        String told = Files.readSymbolicLink(pids()).toString();
        Files.delete(pids());
        return Stream.of(told.strip().split(" ")).map(Long::valueOf).toList();
    }

    /** Closing an instance kills what it has begun, children too, though it does nothing wrong. */
    @Test
    void noProcessOutlivesItsInstance() throws Exception {
        String text = "sleep 1000 & ln -s \"$$ $!\" " + pids() + "\nwhile :; do sleep 1000; done\n";
        List<Long> pids = new ArrayList<>();
        try (ServiceHarness harness = start(Transport.UDP, config(script(text)))) {
            harness.send(flow(1).build(ByteBuffer.wrap(new byte[] {1})));
            pids.addAll(takePids());
            assertThat(pids).hasSize(2).allMatch(ProgramTest::isAlive);
        }
        eventually().untilAsserted(() -> assertThat(pids).noneMatch(ProgramTest::isAlive));
    }

    /** Reading of one process of the host takes more memory than that; so its own thread does not look at them. */
    @Test
    void theServicesThreadDoesNotLookForWhatIsLeft() throws Exception {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        String text = "(sleep 1000 & ln -s $! " + pids() + ")\ncat\n";
        List<String> command = List.of(script(text).split(" "));
        List<Long> pids = new ArrayList<>();
        try {
            long allocated = 0;
            for (int i = 0; i < 3; i++) { // The first one links what it calls.
                CodecProcess process =
                        CodecProcess.start(command, new CodecProcess.Limits(3600, 1L << 31), 1 << 16, () -> {});
                pids.addAll(takePids());
                long before = threads.getCurrentThreadAllocatedBytes();
                process.kill();
                allocated = threads.getCurrentThreadAllocatedBytes() - before;
            }
            assertThat(allocated).isLessThan(8192);
            eventually().untilAsserted(() -> assertThat(pids).noneMatch(ProgramTest::isAlive));
        } finally {
            pids.forEach(pid -> ProcessHandle.of(pid).ifPresent(ProcessHandle::destroyForcibly));
        }
    }

    /** A script's children that it leaves behind when its flow ends: they know no parent any more, one no session, one no environment. */
    @ParameterizedTest
    @EnumSource(Transport.class)
    void noChildOutlivesTheFlowThatItWasBegunFor(Transport transport) throws Exception {
        Tiers.require("native", Files.isExecutable(Path.of("/usr/bin/setsid")), "no setsid here");
        String quiet = " sleep 1000 </dev/null >/dev/null 2>&1 & P=\"$P $!\"\n";
        String text = quiet + "sleep 1000 & P=\"$P $!\"\n" + "nohup" + quiet + "setsid" + quiet + "env -i" + quiet
                + "P=\"$P $(sleep 1000 >/dev/null & echo $!)\"\n" + "ln -s \"$P\" " + pids() + "\ncat\n";
        List<Long> pids = new ArrayList<>();
        try (ServiceHarness harness = start(transport, config(script(text), "idle-ms", "1000", "timeout-ms", "1000"))) {
            for (int stream = 1; stream <= 2; stream++) {
                harness.send(flow(stream).build(ByteBuffer.wrap(new byte[] {(byte) stream})));
                pids.addAll(takePids());
            }
            assertThat(pids).hasSize(2 * 6).allMatch(ProgramTest::isAlive);
            if (transport == Transport.TCP) {
                harness.endOfStream();
            }
            eventually().untilAsserted(() -> {
                if (transport == Transport.UDP) {
                    harness.advance(Duration.ofMillis(100));
                }
                assertThat(pids).noneMatch(ProgramTest::isAlive);
            });
        } finally {
            pids.forEach(pid -> ProcessHandle.of(pid).ifPresent(ProcessHandle::destroyForcibly));
        }
    }

    private static boolean isAlive(long pid) {
        return ProcessHandle.of(pid).map(ProcessHandle::isAlive).orElse(false);
    }

    @Test
    void aProgramThatFloodsIsStopped() throws IOException {
        Map<String, String> config = config(script("cat /dev/zero"), "growth", "2", "max-payload", "60000");
        try (ServiceHarness harness = start(Transport.UDP, config)) {
            harness.send(flow(1).build(ByteBuffer.allocate(1000)));
            eventually().untilAsserted(() -> {
                harness.advance(Duration.ofMillis(100));
                assertThat(harness.count("processes-failed")).isEqualTo(1);
            });
            assertThat(harness.payloads().length).isLessThanOrEqualTo((1 << 20) + 2000);
            // It is counted as failed before it has ended.
            eventually()
                    .untilAsserted(() -> assertThat(harness.control().view()).containsEntry("processes", 0));
        }
    }

    @Test
    void datagramsForWhichAProgramHasNoRoomAreDropped() throws IOException {
        Map<String, String> config = config(script("sleep 1000"), "buffer", "65536", "timeout-ms", "20000");
        try (ServiceHarness harness = start(Transport.UDP, config)) {
            harness.send(Packets.cut(flow(1), Packets.noise(new Random(1), 400_000), 10_000));
            assertThat(harness.drops()).isNotEmpty().containsOnly("codec process is behind");
        }
    }

    /** Over TCP nothing is lost: whoever sends waits. */
    @Test
    void aSlowProgramMakesAStreamWait() throws IOException {
        byte[] text = Packets.text(new Random(1), 2_000_000);
        Map<String, String> config = config(
                script("while dd bs=60000 count=1 iflag=fullblock 2>/dev/null | grep -a . ; do :; done; :"),
                "buffer",
                "65536",
                "growth",
                "2");
        try (ServiceHarness harness = start(Transport.TCP, config)) {
            harness.send(Packets.cut(flow(1), text, 60_000)).endOfStream();
            assertThat(harness.drops()).isEmpty();
            assertThat(harness.payloads()).hasSizeGreaterThanOrEqualTo(text.length);
        }
    }

    /** ulimit of this shell: address space in KiB, seconds, files. */
    @Test
    void limitsAndEnvironmentAreThoseThatAreSaid() throws IOException {
        String text = "ulimit -v; ulimit -t; ulimit -n; ulimit -f; ulimit -c; pwd; env | sort | grep -v"
                + " '^_=\\|^PWD=\\|^OLDPWD=\\|^TAMANOIR_CODEC=[-0-9a-f]*$'; cat";
        Map<String, String> config = config(script(text), "process-memory", "134217728", "process-cpu-s", "77");
        try (ServiceHarness harness = start(Transport.TCP, config)) {
            harness.send(flow(1).build(ByteBuffer.wrap(new byte[] {'!'}))).endOfStream();
            assertThat(new String(harness.payloads(), StandardCharsets.US_ASCII))
                    .isEqualTo("131072\n77\n64\n0\n0\n/\nLC_ALL=C\nPATH=/usr/bin:/bin\n!");
        }
    }

    @Test
    void commandsThatCannotRunAreRefused() {
        for (String command : List.of("cat", "", "/no/such/program", "/tmp", "/etc/passwd")) {
            assertThatThrownBy(() -> start(Transport.TCP, config(command)))
                    .as(command)
                    .hasStackTraceContaining("command: '" + command + "' must be the absolute path");
        }
    }

    @Test
    void ffmpegIsACodec() {
        Path ffmpeg = Path.of("/usr/bin/ffmpeg");
        Tiers.require("ffmpeg", Files.isExecutable(ffmpeg), "no /usr/bin/ffmpeg here");
        ByteBuffer tone = ByteBuffer.allocate(80_000);
        for (int i = 0; i < 40_000; i++) {
            tone.putShort((short) Math.rint(8000 * Math.sin(2 * Math.PI * 440 * i / 8000)));
        }
        String command = ffmpeg + " -loglevel quiet -f s16be -ar 8000 -ac 1 -i pipe:0 -f mulaw -ar 8000 pipe:1";
        try (ServiceHarness harness = start(Transport.TCP, config(command, "timeout-ms", "20000"))) {
            harness.send(Packets.cut(flow(1), tone.array(), 1000)).endOfStream();
            byte[] ulaw = harness.payloads();
            assertThat(ulaw).hasSize(40_000);
            for (int i = 0; i < ulaw.length; i++) {
                assertThat(G711.fromUlaw(ulaw[i] & 0xFF)).isCloseTo(tone.getShort(2 * i), Offset.offset(300));
            }
        }
    }
}
