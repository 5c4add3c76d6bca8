package org.tamanoir.plain;

import java.net.InetSocketAddress;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.tamanoir.nodeos.LevelException;

/**
 * Sends datagrams and connections on their way to other hosts up to a node, as its rules say.
 *
 * <p>Thread contract: any thread; {@link #attach} once, {@link #close} last, {@link #stage} by one at
 * a time.
 */
public interface PlainTraffic extends AutoCloseable {
    /** Nothing comes up. */
    PlainTraffic NONE = new NoPlainTraffic();

    /** Bits of a mark that are the number of the rule. */
    int RULE_MASK = 0x3F;

    /** The bit of a mark that says that the datagram has a Router Alert. */
    int ALERT = 0x40;

    /** The bit of a mark that says that the datagram's payload is an ICMP message. */
    int ICMP = 0x80;

    /** Returns the rules in force. */
    PlainRules rules();

    /**
     * Begins to send up.
     *
     * @param v4 the socket that takes those of IPv4, at 127.0.0.1; null if none does
     * @param v6 likewise at ::1
     * @param listening sockets for connections
     * @throws LevelException in one line, with the remedy, if that cannot be; nothing is left behind then
     */
    void attach(@Nullable InetSocketAddress v4, @Nullable InetSocketAddress v6, Listening listening)
            throws LevelException;

    /**
     * Makes other rules ready, while those before are in force. What was not attached takes note of them alone.
     *
     * @param generation their number, less than 256, which is in the marks of what comes up by them; those that were
     *     attached have 0
     * @throws LevelException in one line, if the kernel refuses them; nothing is changed then
     */
    Staged stage(PlainRules rules, int alertsPerSecond, int generation, Listening listening) throws LevelException;

    /** Takes note why it was not attached, for {@link #status}. */
    void notAttached(String why);

    /** Returns the upper bits of the mark (SO_MARK) of what comes up; 0 when nothing does. */
    int upMark();

    /** Returns the mark of what the node sends on, so that no rule takes it again; 0 = none. */
    int sentMark();

    /** Says that the sockets overflowed by so many datagrams more. */
    void lost(long datagrams);

    /** Returns how it stands. */
    Status status();

    /**
     * Sends nothing up any more, while the node finishes what has come up. Idempotent.
     */
    void release();

    /** Takes everything away that it has put into the kernel. Idempotent. */
    @Override
    void close();

    /** Rules that are ready, until others are. */
    interface Staged {
        /**
         * Puts them in force by one change. Connections that came up by rules before stay.
         *
         * @throws LevelException in one line, if the kernel refuses that; those before stay in force then
         */
        void commit() throws LevelException;
    }

    /**
     * The ports of the sockets that listen for connections, by the number of the rule; 0 = there is none.
     *
     * @param v4 at 127.0.0.1
     * @param v6 at ::1
     */
    record Listening(List<Integer> v4, List<Integer> v6) {
        /** No socket listens. */
        public static final Listening NONE = new Listening(List.of(), List.of());
    }

    /**
     * How it stands.
     *
     * @param isThere whether datagrams come up
     * @param detail where, or why not and what helps
     * @param met datagrams by what became of them in the kernel
     * @param rules what each rule did, by its number
     * @param lost datagrams that came up while the socket's buffer was full
     */
    record Status(boolean isThere, String detail, Map<String, Long> met, List<RuleCount> rules, long lost) {}

    /**
     * What a rule did.
     *
     * @param fits datagrams, and connections that began, that it is for
     * @param up those that came up
     */
    record RuleCount(long fits, long up) {}
}
