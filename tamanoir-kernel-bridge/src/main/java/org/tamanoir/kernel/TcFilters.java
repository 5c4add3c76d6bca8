package org.tamanoir.kernel;

import com.sun.jna.Memory;
import com.sun.jna.Pointer;

/**
 * Asks the kernel over rtnetlink whether an interface's {@code clsact} has filters.
 *
 * <pre>
 *   struct nlmsghdr   length 4, type 2, flags 2, sequence 4, port 4
 *   struct tcmsg      family 1, padding 3, ifindex 4, handle 4, parent 4, info 4
 * </pre>
 *
 * <p>Thread contract: any thread, in the network namespace of the interface.
 */
final class TcFilters {
    private static final int AF_NETLINK = 16;
    private static final int SOCK_RAW_CLOEXEC = 3 | 0x80000;
    private static final int SOL_SOCKET = 1;
    private static final int SO_RCVTIMEO = 20;
    private static final int RTM_NEWTFILTER = 44;
    private static final int RTM_GETTFILTER = 46;
    private static final int NLMSG_ERROR = 2;
    private static final int NLMSG_DONE = 3;
    private static final int NLM_F_REQUEST_DUMP = 0x301;
    private static final int HEADER = 16;
    private static final int REQUEST = HEADER + 20;
    private static final int INGRESS = 0xffff_fff2;
    private static final int EGRESS = 0xffff_fff3;
    private static final int BUFFER = 1 << 16;
    private static final int PATIENCE_S = 2;
    private static final int MAX_READS = 64;

    private TcFilters() {}

    /** True, too, where it cannot be found out. */
    static boolean areThere(int ifindex) {
        return areThere(ifindex, INGRESS) || areThere(ifindex, EGRESS);
    }

    private static boolean areThere(int ifindex, int parent) {
        int fd = BpfLibC.socket(AF_NETLINK, SOCK_RAW_CLOEXEC, 0);
        if (fd < 0) {
            return true;
        }
        try (Memory memory = new Memory(BUFFER)) {
            long at = Pointer.nativeValue(memory);
            memory.setLong(0, PATIENCE_S);
            memory.setLong(8, 0);
            BpfLibC.setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, at, 16);
            memory.clear(REQUEST);
            memory.setInt(0, REQUEST);
            memory.setShort(4, (short) RTM_GETTFILTER);
            memory.setShort(6, (short) NLM_F_REQUEST_DUMP);
            memory.setInt(HEADER + 4, ifindex);
            memory.setInt(HEADER + 12, parent);
            return BpfLibC.send(fd, at, REQUEST, 0) != REQUEST || answerHasOne(fd, memory);
        } finally {
            BpfLibC.close(fd);
        }
    }

    private static boolean answerHasOne(int fd, Memory memory) {
        for (int read = 0; read < MAX_READS; read++) {
            long octets = BpfLibC.recv(fd, Pointer.nativeValue(memory), BUFFER, 0);
            for (long at = 0; at + HEADER <= octets; ) {
                int length = memory.getInt(at);
                int type = memory.getShort(at + 4);
                if (type == RTM_NEWTFILTER || length < HEADER) {
                    return true;
                }
                if (type == NLMSG_DONE || type == NLMSG_ERROR) {
                    return false;
                }
                at += (length + 3) & ~3;
            }
            if (octets <= 0) {
                return true;
            }
        }
        return true;
    }
}
