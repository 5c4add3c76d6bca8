package org.tamanoir.kernel;

/**
 * The numbers of {@code native/include/tamanoir_abi.h}, under their names there without {@code TMN_}; what they mean
 * stands there. A test compares all of them with the header, both ways. Classes named {@code ...Struct} hold the offsets
 * of a struct's members, in octets, and as {@code SIZE} its size.
 *
 * <p>Thread contract: any thread.
 */
final class Abi {
    static final int ABI_VERSION = 1;
    static final int MAX_POLICIES = 16384;
    static final int MAX_SERVICES = 4096;
    static final int MAX_PORTS = 16;
    static final int MAX_LOCALS = 256;
    static final int MAX_RULES = 16;
    static final int MAX_INSTANCES = 16;
    static final int HEADER_OCTETS = 256;
    static final int MAX_OPTIONS = 32;
    static final int MAX_CHECKED_OCTETS = 2048;
    static final int MARK_BASE = 0x5400_0000;
    static final int MARK_MASK = 0xfff0_0000;
    static final int MARK_SLOT = 0xffff;
    static final int MARK_INSTANCE_SHIFT = 20;

    // enum tmn_level
    static final int LEVEL_MODULE = 1;
    static final int LEVEL_TC = 2;
    static final int LEVEL_XDP = 3;

    // enum tmn_share
    static final int SHARE_NONE = 0;
    static final int SHARE_ALL = 1;
    static final int SHARE_EVERY = 2;
    static final int SHARE_FIRST = 3;

    // enum tmn_fate
    static final int FATE_ON = 0;
    static final int FATE_DROP = 1;
    static final int FATE_TO = 2;
    static final int FATE_REDIRECT = 3;

    // enum tmn_mark
    static final int MARK_NONE = 0;
    static final int MARK_CLASS = 1;
    static final int MARK_OCTETS = 2;

    // enum tmn_subject
    static final int RULE_ALL = 0;
    static final int RULE_SOURCE = 1;
    static final int RULE_DESTINATION = 2;
    static final int RULE_CLASS = 3;
    static final int RULE_STREAM = 4;
    static final int RULE_SIZE = 5;

    // enum tmn_comparison
    static final int EQUAL = 0;
    static final int BELOW = 1;
    static final int ABOVE = 2;

    static final int WILD_SOURCE = 1;
    static final int WILD_DESTINATION = 2;
    static final int WILD_STREAM = 4;
    static final int WILDS = 8;

    // enum tmn_met
    static final int MET_SEEN = 0;
    static final int MET_SHORT = 1;
    static final int MET_VERSION = 2;
    static final int MET_HEADER_LENGTH = 3;
    static final int MET_TRUNCATED = 4;
    static final int MET_OPTION_LENGTH = 5;
    static final int MET_CHECKSUM = 6;
    static final int MET_OPTION = 7;
    static final int MET_OPTION_FORMAT = 8;
    static final int MET_TYPE_ID = 9;
    static final int MET_NO_KEY = 10;
    static final int MET_NO_POLICY = 11;
    static final int MET_POLICY = 12;
    static final int MET_OTHER_LEVEL = 13;
    static final int MET_FRAGMENT = 14;
    static final int MET_TRAILER = 15;
    static final int MET_COMPLEX = 16;
    static final int MET_AGGREGATED = 17;
    static final int MET_ABSENT = 18;
    static final int MET_CONNECTIONS = 19;
    static final int MET_COUNT = 20;

    static final String GENL_NAME = "tamanoir";

    // enum tmn_command
    static final int C_UNSPEC = 0;
    static final int C_HELLO = 1;
    static final int C_ATTACH = 2;
    static final int C_DETACH = 3;
    static final int C_SET = 4;
    static final int C_REMOVE = 5;
    static final int C_SETTLED = 6;
    static final int C_COUNTERS = 7;
    static final int C_MET = 8;
    static final int C_MAX = 8;

    // enum tmn_attribute
    static final int A_UNSPEC = 0;
    static final int A_ABI = 1;
    static final int A_VERSION = 2;
    static final int A_HOOK = 3;
    static final int A_FLOW = 4;
    static final int A_POLICY = 5;
    static final int A_SLOT = 6;
    static final int A_SETTLED = 7;
    static final int A_COUNTERS = 8;
    static final int A_STATE = 9;
    static final int A_MET = 10;
    static final int A_MAX = 10;

    static final class RuleStruct {
        static final int SIZE = 24;
        static final int SUBJECT = 0;
        static final int COMPARISON = 1;
        static final int DROPS = 2;
        static final int PREFIX = 3;
        static final int NUMBER = 4;
        static final int ADDRESS = 8;

        private RuleStruct() {}
    }

    static final class FlowStruct {
        static final int SIZE = 48;
        static final int SERVICE = 0;
        static final int SOURCE = 8;
        static final int DESTINATION = 24;
        static final int STREAM = 40;
        static final int WILD = 44;
        static final int PROTOCOL = 45;

        private FlowStruct() {}
    }

    static final class PolicyStruct {
        static final int SIZE = 432;
        static final int SLOT = 0;
        static final int LEVEL = 4;
        static final int SHARE = 5;
        static final int FATE = 6;
        static final int MARK = 7;
        static final int NUMBER = 8;
        static final int MARK_VALUE = 12;
        static final int MARK_OFFSET = 16;
        static final int MARK_OCTETS = 18;
        static final int RULE_COUNT = 19;
        static final int ORDERED = 20;
        static final int DEFAULT_DROPS = 21;
        static final int TO_PORT = 22;
        static final int IFINDEX = 24;
        static final int TO_ADDRESS = 28;
        static final int RULES = 48;

        private PolicyStruct() {}
    }

    static final class StateStruct {
        static final int SIZE = 32;
        static final int SEEN = 0;
        static final int UP = 8;
        static final int SETTLED = 16;

        private StateStruct() {}
    }

    static final class CountersStruct {
        static final int SIZE = 208;
        static final int PACKETS = 0;
        static final int UP = 8;
        static final int ON = 16;
        static final int DROPPED = 24;
        static final int OCTETS = 32;
        static final int MARKED = 40;
        static final int UNMARKED = 48;
        static final int SMALLEST = 56;
        static final int LARGEST = 64;
        static final int RULES = 72;

        private CountersStruct() {}
    }

    static final class HookStruct {
        static final int SIZE = 80;
        static final int ABI = 0;
        static final int MARK = 4;
        static final int TYPE_ID = 8;
        static final int UDP_PORTS = 10;
        static final int TCP_PORTS = 11;
        static final int UNKNOWN_UP = 12;
        static final int UDP = 16;
        static final int TCP = 48;

        private HookStruct() {}
    }

    private Abi() {}
}
