package org.tamanoir.cluster.setup;

import java.net.Inet4Address;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;

/**
 * Address resolution for IPv4 on Ethernet (RFC 826), behind the Ethernet header:
 *
 * <pre>
 *    0                   1                   2                   3
 *   +-------------------------------+-------------------------------+
 *   |      hardware type = 1        |    protocol type = 0x0800     |
 *   +---------------+---------------+-------------------------------+
 *   | hardware = 6  | protocol = 4  |  operation: 1 asks, 2 answers |
 *   +---------------+---------------+-------------------------------+
 *   |                sender's hardware address (6)  :               |
 *   +-------------------------------+  - - - - - - - - - - - - - - -+
 *   |                               :  sender's protocol address (4)|
 *   +-------------------------------+-------------------------------+
 *   |                               |                               |
 *   +-------------------------------+  target's hardware address (6)|
 *   |                                                               |
 *   +---------------------------------------------------------------+
 *   |                  target's protocol address (4)                |
 *   +---------------------------------------------------------------+
 * </pre>
 *
 * Ethernet pads it with octets that are not looked at.
 */
final class ArpFrame {
    static final int ETHER_TYPE = 0x0806;
    static final int OCTETS = 28;

    private static final int HEAD = 0x0001_0800; // Ethernet, IPv4
    private static final int LENGTHS = 0x0604;
    private static final int REQUEST = 1;
    private static final int REPLY = 2;
    private static final int HARDWARE_OCTETS = 6;
    private static final int ADDRESS_OCTETS = 4;
    private static final byte[] NO_ADDRESS = new byte[ADDRESS_OCTETS];

    private ArpFrame() {}

    /** Asks who has an address, without a sender's: nobody learns anything from it (RFC 5227, section 2.1.1). */
    static byte[] probe(byte[] hardware, Inet4Address address) {
        return request(hardware, NO_ADDRESS, address.getAddress());
    }

    /** Tells all that the sender has the address (RFC 5227, section 2.3). */
    static byte[] announcement(byte[] hardware, Inet4Address address) {
        return request(hardware, address.getAddress(), address.getAddress());
    }

    private static byte[] request(byte[] hardware, byte[] sender, byte[] target) {
        return ByteBuffer.allocate(OCTETS)
                .putInt(HEAD)
                .putShort((short) LENGTHS)
                .putShort((short) REQUEST)
                .put(hardware, 0, HARDWARE_OCTETS)
                .put(sender)
                .put(new byte[HARDWARE_OCTETS])
                .put(target)
                .array();
    }

    /**
     * Whose frame tells that another has the address, or is about to take it (RFC 5227, section 2.1.1).
     *
     * @param frame any octets
     * @return the sender's hardware address; null if the frame says nothing of the kind
     */
    static @Nullable String claimant(byte[] frame, int length, Inet4Address address) {
        if (length < OCTETS || length > frame.length) {
            return null;
        }
        ByteBuffer in = ByteBuffer.wrap(frame, 0, length);
        boolean isEthernet = in.getInt() == HEAD && in.getShort() == LENGTHS;
        int operation = in.getShort();
        if (!isEthernet || operation != REQUEST && operation != REPLY) {
            return null;
        }
        byte[] hardware = new byte[HARDWARE_OCTETS];
        byte[] sender = new byte[ADDRESS_OCTETS];
        byte[] target = new byte[ADDRESS_OCTETS];
        in.get(hardware).get(sender).get(new byte[HARDWARE_OCTETS]).get(target);
        byte[] wanted = address.getAddress();
        boolean has = Arrays.equals(sender, wanted);
        boolean probes = operation == REQUEST && Arrays.equals(sender, NO_ADDRESS) && Arrays.equals(target, wanted);
        return has || probes ? HexFormat.ofDelimiter(":").formatHex(hardware) : null;
    }
}
