package org.tamanoir.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.tamanoir.anep.Option;
import org.tamanoir.anep.Packet;
import org.tamanoir.nodeos.Level;
import org.tamanoir.nodeos.LevelCounters;
import org.tamanoir.nodeos.Policy;
import org.tamanoir.service.Service;
import org.tamanoir.service.StreamInfo.Transport;
import org.tamanoir.services.Filter;
import org.tamanoir.services.Monitor;
import org.tamanoir.support.Seeds;
import org.tamanoir.support.TestNet;
import org.tamanoir.testkit.Output;
import org.tamanoir.testkit.ServiceHarness;

/**
 * The same datagrams, good and bad, through Filter and Monitor in the JVM and through what they ask of levels: the same
 * end, the same bytes, the same counts. {@code -Dfuzz.rounds=N} and the depth make it longer.
 */
@Tag("once")
@Tag("process")
@Tag("namespace")
class LevelsAgreeTest {
    private static final int ROUNDS = Seeds.number("fuzz.rounds", Seeds.scaled(12));
    private static final int DATAGRAMS = 100;
    private static final String DEFAULT_REASON = "no rule matched";

    @TempDir
    @SuppressWarnings("NullAway.Init") // set by JUnit
    Path folder;

    private final long seed = Seeds.ofCommit(LevelsAgreeTest.class);
    private final Random random = new Random(seed);
    private final RandomDatagrams source = new RandomDatagrams(seed);

    /** A service with settings, and what it asks of a level. */
    private record Work(Service service, Map<String, String> config, Policy policy) {}

    /** What the shared C code makes of one datagram. */
    private record Answer(boolean isDecided, int dropRule, boolean isMarked, byte[] bytes) {
        static Answer of(String line, byte[] datagram) {
            String[] words = line.split(" ");
            return switch (words[0]) {
                case "drop" -> new Answer(true, Integer.parseInt(words[1]), false, new byte[0]);
                case "on" ->
                    new Answer(true, -1, words[1].equals("1"), HexFormat.of().parseHex(words[2]));
                default -> new Answer(false, -1, false, datagram);
            };
        }

        boolean leaves() {
            return dropRule < 0;
        }
    }

    @Test
    void theSharedPolicyCodeDoesWhatTheServicesDo() throws Exception {
        SanitizedProgram program = new SanitizedProgram(folder, "apply");
        int decided = 0;
        for (int round = 0; round < ROUNDS; round++) {
            Work work = work();
            List<byte[]> datagrams = datagrams();
            List<Answer> answers = answers(program, work, datagrams);
            decided += (int) answers.stream().filter(Answer::isDecided).count();
            assertJvmAgrees("seed " + seed + ", round " + round + ", " + work.config, work, datagrams, answers);
        }
        assertThat(decided).as("seed %d", seed).isGreaterThan(ROUNDS * DATAGRAMS / 10);
    }

    @ParameterizedTest
    @EnumSource(
            value = Level.class,
            names = {"TC", "XDP"})
    void theBpfLevelsDoWhatTheSharedPolicyCodeDoes(Level level) throws Exception {
        BpfBed.require();
        SanitizedProgram program = new SanitizedProgram(folder, "apply");
        try (TestNet net = new TestNet("bpfa")) {
            net.namespaces().run(net.server(), "ethtool -K " + TestNet.SERVER_DEVICE + " gro on");
            try (BpfBed bed = new BpfBed(net, level)) {
                for (int round = 0; round < ROUNDS; round++) {
                    Work work = work();
                    assertLevelAgrees(
                            "seed " + seed + ", round " + round + ", " + work.config, bed, level, program, work);
                }
            }
        }
    }

    private void assertLevelAgrees(String because, BpfBed bed, Level level, SanitizedProgram program, Work work)
            throws Exception {
        // What a level leaves to the node goes up, and no node is here.
        List<byte[]> datagrams =
                datagrams().stream().filter(d -> isForLevels(d)).toList();
        List<Answer> answers = answers(program, work, datagrams);
        bed.begin(level);
        bed.set(work.policy);
        List<byte[]> arrived = bed.cross(TestNet.SERVER4, datagrams.toArray(byte[][]::new));
        List<byte[]> expected =
                answers.stream().filter(Answer::leaves).map(Answer::bytes).toList();
        assertThat(hex(arrived)).as(because).isEqualTo(hex(expected));
        LevelCounters counters = bed.counters();
        List<Answer> decided = answers.stream().filter(Answer::isDecided).toList();
        long on = decided.stream().filter(Answer::leaves).count();
        assertThat(counters.packets()).as(because).isEqualTo(decided.size());
        assertThat(counters.on()).as(because).isEqualTo(on);
        assertThat(counters.dropped()).as(because).isEqualTo(decided.size() - on);
        assertThat(counters.marked())
                .as(because)
                .isEqualTo(decided.stream().filter(Answer::isMarked).count());
        long[] rules = new long[Policy.MAX_RULES + 1];
        decided.stream().filter(a -> !a.leaves()).forEach(a -> rules[a.dropRule]++);
        if (!work.policy.rules().isEmpty()) {
            assertThat(counters.ruleDrops()).as(because).isEqualTo(rules);
        }
        bed.assertAllIsCounted();
    }

    private void assertJvmAgrees(String because, Work work, List<byte[]> datagrams, List<Answer> answers) {
        try (ServiceHarness harness = ServiceHarness.start(work.service, Transport.UDP, work.config)) {
            List<byte[]> left = new ArrayList<>();
            List<Integer> rules = new ArrayList<>();
            for (int i = 0; i < answers.size(); i++) {
                Answer answer = answers.get(i);
                if (answer.isDecided) {
                    harness.send(datagrams.get(i));
                    if (answer.leaves()) {
                        left.add(answer.bytes);
                    } else {
                        rules.add(answer.dropRule);
                    }
                }
            }
            assertThat(hex(harness.outputs().stream()
                            .map(Output::packet)
                            .map(LevelsAgreeTest::bytes)
                            .toList()))
                    .as(because)
                    .isEqualTo(hex(left));
            assertThat(harness.drops().stream().map(LevelsAgreeTest::rule).toList())
                    .as(because)
                    .isEqualTo(rules);
            assertThat(harness.count("packets")).as(because).isEqualTo(left.size() + rules.size());
            if (work.service instanceof Monitor && !work.policy.equals(Policy.forward())) {
                long marked = answers.stream().filter(Answer::isMarked).count();
                assertThat(harness.count("unmarked")).as(because).isEqualTo(left.size() - marked);
            }
        }
    }

    private static int rule(String reason) {
        return reason.equals(DEFAULT_REASON)
                ? Policy.MAX_RULES
                : Integer.parseInt(reason.substring("rule ".length(), reason.indexOf(':'))) - 1;
    }

    private static List<String> hex(List<byte[]> packets) {
        return packets.stream().map(HexFormat.of()::formatHex).toList();
    }

    private static byte[] bytes(Packet packet) {
        byte[] bytes = new byte[packet.length()];
        packet.copyTo(ByteBuffer.wrap(bytes), 0);
        return bytes;
    }

    private static List<Answer> answers(SanitizedProgram program, Work work, List<byte[]> datagrams) throws Exception {
        ByteBuffer struct = AbiEncoder.policy(BpfBed.SLOT, Level.TC, work.policy, false);
        byte[] policy = new byte[struct.capacity()];
        struct.get(0, policy);
        List<String> lines = new ArrayList<>(List.of("policy " + HexFormat.of().formatHex(policy)));
        datagrams.forEach(d -> lines.add(HexFormat.of().formatHex(d)));
        List<String> said = program.run(lines);
        assertThat(said).hasSameSizeAs(datagrams);
        List<Answer> answers = new ArrayList<>();
        for (int i = 0; i < said.size(); i++) {
            answers.add(Answer.of(said.get(i), datagrams.get(i)));
        }
        return answers;
    }

    // ---- inputs ---------------------------------------------------------------------------------------------

    private Work work() throws Exception {
        if (random.nextInt(3) == 0) {
            Monitor monitor = new Monitor();
            Map<String, String> config = Map.of("mark", Integer.toString(random.nextInt(256)));
            return new Work(monitor, config, Policy.forward().markClass(Integer.parseInt(config.get("mark"))));
        }
        List<String> rules = new ArrayList<>();
        for (int i = 1 + random.nextInt(Policy.MAX_RULES); i > 0; i--) {
            rules.add((random.nextBoolean() ? "drop " : "pass ") + condition());
        }
        Map<String, String> config =
                Map.of("rules", String.join("; ", rules), "default", random.nextBoolean() ? "drop" : "pass");
        // The service that says what levels do is not the one that packets are given to.
        Filter asked = new Filter();
        Policy policy;
        try (ServiceHarness harness = ServiceHarness.startWithLevels(asked, Transport.UDP, config)) {
            policy = asked.policy();
            assertThat(harness.outputs()).isEmpty();
        }
        return new Work(new Filter(), config, policy);
    }

    private String condition() {
        return switch (random.nextInt(6)) {
            case 0 -> "source " + random.nextInt(256) + ".0.0.0/" + random.nextInt(9);
            case 1 -> "destination " + Integer.toHexString(random.nextInt(0x10000)) + "::/" + random.nextInt(9);
            case 2 -> "class " + random.nextInt(random.nextBoolean() ? 6 : 256);
            case 3 -> "stream " + random.nextInt(6);
            case 4 -> "size " + "<=>".charAt(random.nextInt(3)) + " " + random.nextInt(300);
            default -> "destination " + random.nextInt(256) + ".0.0.0/" + random.nextInt(5);
        };
    }

    private List<byte[]> datagrams() {
        List<byte[]> datagrams = new ArrayList<>();
        while (datagrams.size() < DATAGRAMS) {
            datagrams.add(ofTheService(source.next()));
        }
        return datagrams;
    }

    /** Good packets with a key get that of the service that policies are for. */
    private static byte[] ofTheService(byte[] datagram) {
        Packet packet = new Packet();
        byte[] bytes = datagram.clone();
        if (packet.parse(ByteBuffer.wrap(bytes), 0, bytes.length) == null
                && packet.isTamanoir()
                && packet.has(Option.SERVICE_KEY)) {
            packet.setServiceKey(BpfBed.KEY);
        }
        return bytes;
    }

    /** Not what a level does not read to its end, and not what marks the end of a stream of datagrams. */
    private static boolean isForLevels(byte[] datagram) {
        Packet packet = new Packet();
        boolean isGood = packet.parse(ByteBuffer.wrap(datagram), 0, datagram.length) == null;
        return datagram.length > 0
                && !Arrays.equals(datagram, BpfBed.LAST)
                && !(isGood && (packet.hasTrailer() || packet.headerLength() > Abi.HEADER_OCTETS || isLong(packet)));
    }

    private static boolean isLong(Packet packet) {
        ByteBuffer bytes = packet.buffer();
        int options = 0;
        for (int at = 8; at < packet.headerLength(); options++) {
            at += Math.max(1, Short.toUnsignedInt(bytes.getShort(at + 2))) * 4;
        }
        return options > Abi.MAX_OPTIONS;
    }
}
