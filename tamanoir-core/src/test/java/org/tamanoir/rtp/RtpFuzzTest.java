package org.tamanoir.rtp;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.tamanoir.support.Damage;
import org.tamanoir.support.Seeds;

/**
 * Random RTP and RTCP, damaged or not, against a judge that reads hexadecimal digits with patterns and shares no code with
 * the readers: what stands where, or that it is refused.
 */
@Tag("once")
class RtpFuzzTest {
    private static final int ROUNDS = 5_000;
    /** Octets before and behind that are no part of the datagram, and would be read as lengths. */
    private static final int GUARD = 300;

    private static final Pattern HEAD = Pattern.compile("([89ab])(.)(..)(....)(.{8})(.{8})(.*)");

    private final RtpPacket reads = new RtpPacket();

    private static byte[] datagram(Random random) {
        ByteBuffer out = ByteBuffer.allocate(2_000);
        if (random.nextInt(2) == 0) {
            int csrcs = Damage.any(random, 0, 0, 1, 15);
            boolean isExtended = random.nextInt(3) == 0;
            boolean isPadded = random.nextInt(3) == 0;
            out.put((byte) (0x80 | (isPadded ? 0x20 : 0) | (isExtended ? 0x10 : 0) | csrcs));
            out.put((byte) random.nextInt(256)).putShort((short) random.nextInt());
            out.putInt(random.nextInt()).putInt(random.nextInt());
            out.position(out.position() + 4 * csrcs);
            if (isExtended) {
                int words = random.nextInt(4);
                out.putShort((short) 0xBEDE).putShort((short) words).position(out.position() + 4 * words);
            }
            out.position(out.position() + random.nextInt(20));
            if (isPadded) {
                out.put((byte) random.nextInt(8));
            }
        } else {
            for (int n = 1 + random.nextInt(3); n > 0; n--) {
                int type = 200 + random.nextInt(5);
                int count = random.nextInt(3);
                int words = type == 203 ? count : type == 200 ? 6 + 6 * count : type == 201 ? 1 + 6 * count : 2;
                words += random.nextInt(4) == 0 ? random.nextInt(3) : 0;
                out.put((byte) (0x80 | count)).put((byte) type).putShort((short) words);
                byte[] body = new byte[4 * words];
                random.nextBytes(body);
                out.put(body);
            }
        }
        byte[] whole = new byte[out.position()];
        out.get(0, whole);
        return Damage.of(whole, random);
    }

    /** Returns what the reader has to say: a refusal in its first letter, what RTP holds, or what RTCP tells. */
    private static String judge(byte[] octets) {
        String hex = HexFormat.of().formatHex(octets);
        if (hex.length() < 8 || "89ab".indexOf(hex.charAt(0)) < 0) {
            return "refused";
        }
        if (hex.substring(2, 4).matches("[cd].")) {
            return control(hex);
        }
        Matcher head = HEAD.matcher(hex);
        if (!head.matches()) {
            return "refused";
        }
        int first = Integer.parseInt(head.group(1), 16);
        int csrcs = Integer.parseInt(head.group(2), 16);
        String rest = head.group(7);
        if (rest.length() < 8 * csrcs) {
            return "refused";
        }
        rest = rest.substring(8 * csrcs);
        if ((first & 1) != 0) {
            int words = rest.length() < 8 ? Integer.MAX_VALUE / 8 - 1 : Integer.parseInt(rest.substring(4, 8), 16);
            if (rest.length() < 8 * (1 + words)) {
                return "refused";
            }
            rest = rest.substring(8 * (1 + words));
        }
        int header = (hex.length() - rest.length()) / 2;
        int media = rest.length() / 2;
        int padding = 0;
        if ((first & 2) != 0) {
            padding = Integer.parseInt(hex.substring(hex.length() - 2), 16);
            padding = padding == 0 || padding > media ? -1 : padding;
        }
        int second = Integer.parseInt(head.group(3), 16);
        return String.join(
                " ",
                second >= 128 ? "marked" : "plain",
                Integer.toString(second % 128),
                head.group(4),
                head.group(5),
                head.group(6),
                Integer.toString(csrcs),
                Integer.toString(header),
                Integer.toString(media - Math.max(0, padding)),
                Integer.toString(padding));
    }

    /** What is wrong behind the first packet ends what is told, and is not refused. */
    private static String control(String hex) {
        List<String> told = new ArrayList<>();
        for (String rest = hex; !rest.isEmpty(); ) {
            String wrong = rest.length() < 8 || "89ab".indexOf(rest.charAt(0)) < 0 ? "refused" : null;
            int digits = wrong != null ? 0 : 8 * (1 + Integer.parseInt(rest.substring(4, 8), 16));
            if (wrong != null || digits > rest.length() || !tell(rest.substring(0, digits), told)) {
                return rest.length() == hex.length() ? "refused" : told.toString();
            }
            rest = rest.substring(digits);
        }
        return told.toString();
    }

    private static boolean tell(String packet, List<String> told) {
        int count = Integer.parseInt(packet.substring(0, 2), 16) % 32;
        String type = packet.substring(2, 4);
        int head = type.equals("cb") ? 8 : type.equals("c8") ? 56 : 16;
        int each = type.equals("cb") ? 8 : 48;
        if (!type.matches("c8|c9|cb")) {
            return true;
        }
        if (packet.length() < head + count * each) {
            return false;
        }
        for (int i = 0; i < count; i++) {
            String block = packet.substring(head + i * each, head + (i + 1) * each);
            if (each == 8) {
                told.add("bye " + block);
            } else {
                int lost = Integer.parseInt(block.substring(10, 16), 16);
                told.add(String.join(
                        " ",
                        block.substring(0, 8),
                        Integer.toString(Integer.parseInt(block.substring(8, 10), 16)),
                        Integer.toString(lost >= 1 << 23 ? lost - (1 << 24) : lost),
                        block.substring(16, 24),
                        block.substring(24, 32)));
            }
        }
        return true;
    }

    private String read(ByteBuffer memory, int octets) {
        @Nullable String wrong = reads.read(memory, GUARD, octets);
        if (wrong != null) {
            assertEquals(1, wrong.lines().count());
            return "refused";
        }
        if (reads.isControl()) {
            List<String> told = new ArrayList<>();
            wrong = reads.readControl(new RtcpListener() {
                @Override
                public void report(int ssrc, RtpReport report) {
                    told.add("%08x %d %d %08x %08x"
                            .formatted(ssrc, report.fractionLost(), report.lost(), report.highest(), report.jitter()));
                }

                @Override
                public void bye(int ssrc) {
                    told.add("bye %08x".formatted(ssrc));
                }
            });
            return wrong != null ? "refused" : told.toString();
        }
        return "%s %d %04x %08x %08x %d %d %d %d"
                .formatted(
                        reads.marker() ? "marked" : "plain",
                        reads.payloadType(),
                        reads.sequence(),
                        reads.timestamp(),
                        reads.ssrc(),
                        reads.csrcs(),
                        reads.headerOctets(),
                        reads.mediaOctets(),
                        reads.paddingOctets());
    }

    @Test
    void aDatagramIsWhatItsDigitsSayOrRefused() {
        for (long seed : Seeds.ofCommit(RtpFuzzTest.class, ROUNDS)) {
            Random random = Damage.random(seed);
            byte[] octets = datagram(random);
            byte[] memory = new byte[octets.length + 2 * GUARD];
            random.nextBytes(memory);
            System.arraycopy(octets, 0, memory, GUARD, octets.length);
            assertEquals(
                    judge(octets),
                    read(ByteBuffer.wrap(memory), octets.length),
                    () -> "seed " + seed + ": " + HexFormat.of().formatHex(octets));
        }
    }
}
