package org.tamanoir.benchmarks.fuzz;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.SplittableRandom;

/**
 * Packets as strangers might send them: mostly whole, of options in any order, twice, unknown, of wrong lengths; many
 * damaged. Written without the node's builder, which makes none of these.
 */
final class AnepInputs {
    private static final int[] FIXED_WORDS = {0, 0, 0, 2, 0};
    private static final int[] PRIVATE_WORDS = {0, 3, 2, 0, 4, 4, 4, 2, 5, 11, 2};

    private final long[] keys;

    /** @param keys that the node's services have; one more is made up */
    AnepInputs(long... keys) {
        this.keys = keys.clone();
    }

    /** One input of at most so many bytes. */
    byte[] next(SplittableRandom random, int maxBytes) {
        byte[] packet = whole(random, maxBytes);
        return random.nextInt(2) == 0 ? packet : damaged(random, packet, maxBytes);
    }

    private byte[] whole(SplittableRandom random, int maxBytes) {
        ByteBuffer packet = ByteBuffer.allocate(4096 + maxBytes);
        packet.putLong(0);
        int checksum = 0;
        if (random.nextInt(8) != 0) {
            address(random, packet, 2);
        }
        if (random.nextInt(8) != 0) {
            packet.putShort((short) 0x8001).putShort((short) 3).putLong(key(random));
        }
        if (random.nextInt(3) == 0) {
            packet.putShort((short) 0x8002).putShort((short) 2).putInt(random.nextInt());
        }
        if (random.nextInt(3) == 0) {
            packet.putShort((short) 0x8007).putShort((short) 2).putInt(random.nextInt(4) << 16);
        }
        if (random.nextInt(3) == 0) {
            checksum = packet.position() + 4;
            packet.putInt(3 << 16 | 2).putInt(0);
        }
        for (int more = random.nextInt(4) == 0 ? random.nextInt(12) : 0; more > 0; more--) {
            option(random, packet);
        }
        int header = packet.position();
        int room = Math.max(0, maxBytes - header);
        int payload = Math.min(room, payload(random));
        for (int i = 0; i < payload; i++) {
            packet.put((byte) random.nextInt());
        }
        int typeId = random.nextInt(12) == 0 ? random.nextInt(0x10000) : AnepReference.TYPE_ID;
        int flags = random.nextInt(4) == 0 ? random.nextInt(256) : 0;
        packet.put(0, (byte) 1).put(1, (byte) flags).putShort(2, (short) typeId);
        packet.putShort(4, (short) (header / 4)).putShort(6, (short) packet.position());
        byte[] bytes = Arrays.copyOf(packet.array(), packet.position());
        if (checksum != 0) {
            seal(bytes, checksum);
        }
        return bytes;
    }

    private static int payload(SplittableRandom random) {
        return switch (random.nextInt(32)) {
            case 0 -> 0;
            case 1 -> 1400 + random.nextInt(2000);
            case 2 -> random.nextInt(65_536);
            default -> random.nextInt(200);
        };
    }

    private long key(SplittableRandom random) {
        int which = random.nextInt(keys.length + 2);
        return which < keys.length ? keys[which] : which == keys.length ? 0 : random.nextLong() | 1;
    }

    private static void address(SplittableRandom random, ByteBuffer packet, int type) {
        switch (random.nextInt(10)) {
            case 0 ->
                packet.putInt(type << 16 | 6)
                        .putInt(2)
                        .putLong(random.nextLong())
                        .putLong(random.nextLong());
            case 1 ->
                packet.putInt(type << 16 | 6)
                        .putInt(2)
                        .putLong(0)
                        .putInt(0xFFFF)
                        .putInt(ipv4(random));
            case 2 -> packet.putInt(type << 16 | 4).putInt(3).putLong(random.nextLong());
            case 3 -> packet.putInt(type << 16 | 3).putInt(random.nextInt(6)).putInt(random.nextInt());
            default -> packet.putInt(type << 16 | 3).putInt(1).putInt(ipv4(random));
        }
    }

    /** Half of them to the host, half to the next node. */
    private static int ipv4(SplittableRandom random) {
        return 10 << 24 | (1 + random.nextInt(2)) << 16 | random.nextInt(0x10000);
    }

    private static void option(SplittableRandom random, ByteBuffer packet) {
        boolean isPrivate = random.nextBoolean();
        int type = random.nextInt(4) == 0 ? random.nextInt(0x4000) : random.nextInt(isPrivate ? 11 : 5);
        if (!isPrivate && (type == 1 || type == 2) && random.nextInt(4) != 0) {
            address(random, packet, type);
            return;
        }
        int[] fitting = isPrivate ? PRIVATE_WORDS : FIXED_WORDS;
        int words = type < fitting.length && fitting[type] != 0 ? fitting[type] : 1 + random.nextInt(8);
        words = random.nextInt(10) == 0 ? random.nextInt(14) : words;
        int discard = random.nextInt(8) == 0 ? 0x4000 : 0;
        packet.putShort((short) ((isPrivate ? 0x8000 : 0) | discard | type)).putShort((short) words);
        for (int word = 1; word < words; word++) {
            packet.putInt(random.nextInt(3) == 0 ? random.nextInt() : random.nextInt(6));
        }
    }

    private static byte[] damaged(SplittableRandom random, byte[] packet, int maxBytes) {
        byte[] bytes = packet.clone();
        for (int changes = random.nextInt(4); changes > 0; changes--) {
            int at = random.nextInt(Math.min(bytes.length, random.nextBoolean() ? bytes.length : 64));
            switch (random.nextInt(4)) {
                case 0 -> bytes[at] ^= (byte) (1 << random.nextInt(8));
                case 1 -> bytes[at] = (byte) random.nextInt(8);
                case 2 -> bytes[at] = (byte) random.nextInt(256);
                default -> bytes[at] = (byte) 0xFF;
            }
        }
        if (random.nextInt(6) == 0) {
            bytes = Arrays.copyOf(bytes, Math.min(maxBytes, random.nextInt(bytes.length + 9)));
        }
        if (random.nextInt(6) == 0 && bytes.length >= 8) {
            ByteBuffer.wrap(bytes).putShort(6, (short) (bytes.length + random.nextInt(-2, 3)));
        }
        if (random.nextBoolean()) {
            sealAgain(bytes);
        }
        return bytes;
    }

    /** Damage behind a good checksum reaches further. */
    private static void sealAgain(byte[] bytes) {
        ByteBuffer packet = ByteBuffer.wrap(bytes);
        int length = bytes.length < 8 ? 0 : Math.min(bytes.length, packet.getShort(6) & 0xFFFF);
        int header = bytes.length < 8 ? 0 : Math.min(length, (packet.getShort(4) & 0xFFFF) * 4);
        for (int at = 8; at + 8 <= header; at += Math.max(1, packet.getShort(at + 2) & 0xFFFF) * 4) {
            if ((packet.getShort(at) & 0xBFFF) == 3 && (packet.getShort(at + 2) & 0xFFFF) == 2) {
                seal(bytes, at + 4, length);
                return;
            }
        }
    }

    private static void seal(byte[] bytes, int at) {
        seal(bytes, at, bytes.length);
    }

    private static void seal(byte[] bytes, int at, int length) {
        bytes[at] = 0;
        bytes[at + 1] = 0;
        long sum = 0;
        for (int i = 0; i < length; i++) {
            sum += i % 2 == 0 ? (bytes[i] & 0xFF) << 8 : bytes[i] & 0xFF;
        }
        while (sum >>> 16 != 0) {
            sum = (sum >>> 16) + (sum & 0xFFFF);
        }
        bytes[at] = (byte) (~sum >>> 8);
        bytes[at + 1] = (byte) ~sum;
    }
}
