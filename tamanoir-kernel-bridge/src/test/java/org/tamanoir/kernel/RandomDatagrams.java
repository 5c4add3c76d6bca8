package org.tamanoir.kernel;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Random;
import org.tamanoir.anep.Anep;
import org.tamanoir.anep.Option;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketBuilder;

/** Datagrams as senders make them, and of options of all kinds; half of them damaged. One thread. */
final class RandomDatagrams {
    private static final int MAX_OPTION_WORDS = 14;

    private final Random random;

    RandomDatagrams(long seed) {
        random = new Random(seed);
    }

    byte[] next() {
        return damaged(random.nextInt(3) == 0 ? built() : assembled());
    }

    /** As a sender makes them. */
    private byte[] built() {
        PacketBuilder builder = new PacketBuilder();
        if (random.nextBoolean()) {
            builder.source(address());
        }
        if (random.nextBoolean()) {
            builder.destination(address());
        }
        if (random.nextInt(8) != 0) {
            builder.serviceKey(random.nextLong());
        }
        if (random.nextBoolean()) {
            builder.classOfService(random.nextInt(256), random.nextInt(256));
        }
        if (random.nextBoolean()) {
            builder.stream(random.nextInt());
        }
        if (random.nextBoolean()) {
            builder.checksum();
        }
        Packet packet = builder.build(ByteBuffer.wrap(bytes(random.nextInt(64))));
        byte[] bytes = new byte[packet.length()];
        packet.buffer().get(packet.offset(), bytes);
        return bytes;
    }

    private InetAddress address() {
        try {
            return InetAddress.getByAddress(bytes(random.nextBoolean() ? 4 : 16));
        } catch (UnknownHostException e) {
            throw new IllegalStateException("4 or 16 bytes are an address", e);
        }
    }

    private byte[] bytes(int count) {
        byte[] bytes = new byte[count];
        random.nextBytes(bytes);
        return bytes;
    }

    /** Of options of all kinds, with lengths that mostly fit them, sometimes more than a level reads. */
    private byte[] assembled() {
        ByteBuffer packet = ByteBuffer.allocate(2048);
        packet.putLong(0);
        int checksumAt = 0;
        int options = random.nextInt(16) == 0 ? random.nextInt(80) : random.nextInt(10);
        for (int i = 0; i < options; i++) {
            int start = packet.position();
            Option option = Option.values()[random.nextInt(Option.values().length)];
            int type = random.nextInt(10) == 0 ? random.nextInt(0x10000) : option.wireType();
            type |= random.nextInt(32) == 0 ? Anep.OPTION_DISCARD : 0;
            int words = option.words() == 0 ? 3 + random.nextInt(5) : option.words();
            words = options > 10 ? random.nextInt(1, 4) : random.nextInt(12) == 0 ? words(i) : words;
            packet.putShort((short) type).putShort((short) words);
            for (int word = 1; word < words; word++) {
                packet.putInt(random.nextInt(3) == 0 ? random.nextInt() : random.nextInt(5));
            }
            if (option == Option.CHECKSUM && words == option.words()) {
                checksumAt = start + 4;
            }
        }
        int header = packet.position();
        packet.put(bytes(random.nextInt(32)));
        int length = packet.position();
        int typeId = random.nextInt(10) == 0 ? random.nextInt(0x10000) : Anep.DEFAULT_TYPE_ID;
        packet.put(0, (byte) Anep.VERSION).put(1, (byte) random.nextInt(256)).putShort(2, (short) typeId);
        packet.putShort(4, (short) (header / 4)).putShort(6, (short) length);
        if (checksumAt != 0) {
            packet.putShort(checksumAt, (short) 0);
            packet.putShort(checksumAt, (short) ~sum(packet, length));
        }
        return Arrays.copyOf(packet.array(), length);
    }

    private int words(int option) {
        return random.nextInt(option == 0 ? 1 : 0, MAX_OPTION_WORDS);
    }

    private static int sum(ByteBuffer packet, int length) {
        int sum = 0;
        for (int i = 0; i < length; i++) {
            sum += (packet.get(i) & 0xFF) << (i % 2 == 0 ? 8 : 0);
        }
        while (sum >>> 16 != 0) {
            sum = (sum >>> 16) + (sum & 0xFFFF);
        }
        return sum;
    }

    /** Up to three bytes changed, cut or lengthened; half of them untouched. */
    private byte[] damaged(byte[] packet) {
        byte[] bytes = packet.clone();
        if (random.nextBoolean()) {
            return bytes;
        }
        for (int changes = random.nextInt(4); changes > 0; changes--) {
            int at = random.nextInt(random.nextBoolean() ? bytes.length : Math.min(bytes.length, 16));
            switch (random.nextInt(3)) {
                case 0 -> bytes[at] ^= (byte) (1 << random.nextInt(8));
                case 1 -> bytes[at] = (byte) random.nextInt(8);
                default -> bytes[at] = (byte) random.nextInt(256);
            }
        }
        if (random.nextInt(4) == 0) {
            bytes = Arrays.copyOf(bytes, random.nextInt(bytes.length + 8));
        }
        return bytes;
    }
}
