package org.tamanoir.kernel;

/**
 * The numbers of {@code native/include/tamanoir_plain.h}, under their names there without {@code TMN_PLAIN_}; what they
 * mean stands there. A test compares all of them with the header, both ways, as those of {@link Abi}.
 *
 * <p>Thread contract: any thread.
 */
final class PlainAbi {
    static final int VERSION = 4;
    static final int RULES = 64;
    static final int BUFFERS = 2;
    static final int COUNTS = 128;
    static final int INTERFACES = 1024;
    static final int LONGEST = 65_000;
    static final long STALE_NS = 1_000_000_000L;
    static final int RULE = 0x3f;
    static final int ALERT = 0x40;
    static final int ICMP = 0x80;
    static final int GENERATION = 0xff00;
    static final int MESSAGE = 16_384;
    static final int SENT = 0x5500_0000;
    static final int ALERT_V4 = 0x9404_0000;
    static final long ALERT_V6 = 0x0502_0002_0100L;

    // enum tmn_plain_icmp
    static final int ECHO_REQUEST = 0;
    static final int ECHO_REPLY = 1;
    static final int UNREACHABLE = 2;
    static final int TOO_BIG = 3;
    static final int TIME_EXCEEDED = 4;
    static final int PARAMETER = 5;
    static final int ICMP_COUNT = 6;

    // enum tmn_plain_met
    static final int UP = 0;
    static final int NO_RULE = 1;
    static final int FRAGMENT = 2;
    static final int OPTIONS = 3;
    static final int LENGTH = 4;
    static final int HOPS = 5;
    static final int LOCAL = 6;
    static final int STALE = 7;
    static final int ABSENT = 8;
    static final int LIMITED = 9;
    static final int SENT_ON = 10;
    static final int BEGUN = 11;
    static final int ONE_WAY = 12;
    static final int CHECKSUM = 13;
    static final int WAY = 14;
    static final int MET_COUNT = 15;

    private PlainAbi() {}

    /** struct tmn_plain_hook. */
    static final class HookStruct {
        static final int VERSION = 0;
        static final int MARK = 4;
        static final int PORT4 = 8;
        static final int PORT6 = 10;
        static final int BUFFER = 12;
        static final int HELD = 14;
        static final int ALERT_GAP_NS = 16;
        static final int ALERT_BURST_NS = 24;
        static final int UDP = 32;
        static final int TCP = 40;
        static final int ICMP = 48;
        static final int NO_ALERT = 56;
        static final int ALERT = 64;
        static final int ANY_SOURCE = 72;
        static final int ANY_DESTINATION = 80;
        static final int ANY_MARK = 88;
        static final int DSCP = 96;
        static final int TCP4 = 608;
        static final int TCP6 = 736;
        static final int COUNT = 864;
        static final int SIZE = 928;

        private HookStruct() {}
    }

    /** struct tmn_plain_beat. */
    static final class BeatStruct {
        static final int NODE_NS = 0;
        static final int ALERT_NS = 8;
        static final int SIZE = 16;

        private BeatStruct() {}
    }

    /** struct tmn_plain_asked. */
    static final class AskedStruct {
        static final int MARK = 0;
        static final int BUFFER = 4;
        static final int SIZE = 8;

        private AskedStruct() {}
    }

    /** struct tmn_plain_prefix. */
    static final class PrefixStruct {
        static final int BITS = 0;
        static final int BUFFER = 4;
        static final int ADDRESS = 8;
        static final int SIZE = 24;

        private PrefixStruct() {}
    }

    /** struct tmn_plain_count. */
    static final class CountStruct {
        static final int FITS = 0;
        static final int UP = 8;
        static final int SIZE = 16;

        private CountStruct() {}
    }
}
