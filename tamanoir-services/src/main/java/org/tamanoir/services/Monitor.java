package org.tamanoir.services;

import org.tamanoir.anep.Option;
import org.tamanoir.anep.Packet;
import org.tamanoir.nodeos.Flow;
import org.tamanoir.nodeos.LevelCounters;
import org.tamanoir.nodeos.LevelException;
import org.tamanoir.nodeos.Policy;
import org.tamanoir.nodeos.Share;
import org.tamanoir.service.Counter;
import org.tamanoir.service.Service;
import org.tamanoir.service.ServiceConfig;
import org.tamanoir.service.Setting;
import org.tamanoir.service.Settings;
import org.tamanoir.service.StreamInfo;
import org.tamanoir.service.Verdict;

/**
 * Marks, counts and forwards: the benchmark service of the Tamanoir papers.
 *
 * <p>It writes the class of service into packets that have the option (private option 2), in place; it never adds
 * the option. Loss, reordering and duplicates are seen in the sequence numbers of private option 4, for up to
 * 4,096 stream ids an instance: see {@link SequenceTable}.
 *
 * <table><caption>Counters</caption>
 * <tr><th>name</th><th>counts</th></tr>
 * <tr><td>{@code packets}, {@code bytes}</td><td>all packets; bytes of whole packets</td></tr>
 * <tr><td>{@code smallest-bytes}, {@code largest-bytes}</td><td>of a packet; 0 before the first</td></tr>
 * <tr><td>{@code unmarked}</td><td>packets without the option that the mark needs</td></tr>
 * <tr><td>{@code lost}, {@code late}, {@code reordered}, {@code duplicates}, {@code stale}, {@code restarts},
 * {@code streams}, {@code untracked}</td><td>see {@link SequenceTable}; not while a level below handles packets</td></tr>
 * <tr><td>{@code not-offloaded}</td><td>1 if it asked for a level below and none could</td></tr>
 * </table>
 *
 * <p>A level below can do all of it but the sequence numbers: those are not looked at while one handles packets, and
 * each stream begins anew when none does any more.
 *
 * <p>Drops nothing. Per packet it allocates nothing and reads no clock; counters are right after every packet.
 */
@Settings(
        of = OffloadSetting.class,
        value = {
            @Setting(
                    name = "mark",
                    kind = Setting.Kind.NUMBER,
                    standard = "1",
                    min = 0,
                    max = 255,
                    choices = "none",
                    text = "class of service that packets get; none: they stay as they are")
        })
public final class Monitor extends Service {
    private static final int NO_MARK = -1;

    private int mark = 1;
    private Counter packets = new Counter("packets");
    private Counter bytes = new Counter("bytes");
    private Counter smallest = new Counter("smallest-bytes", Counter.Kind.MINIMUM);
    private Counter largest = new Counter("largest-bytes", Counter.Kind.MAXIMUM);
    private Counter unmarked = new Counter("unmarked");
    private SequenceTable sequences = new SequenceTable(Counter::new);
    /** A level below has handled packets since sequence numbers were looked at last. */
    private boolean isPartial;

    @Override
    public void init(ServiceConfig config) {
        config.allow("mark", "offload");
        mark = mark(config);
        Share share = OffloadSetting.of(config).share();
        packets = counter("packets");
        bytes = counter("bytes");
        smallest = counter("smallest-bytes", Counter.Kind.MINIMUM);
        largest = counter("largest-bytes", Counter.Kind.MAXIMUM);
        unmarked = counter("unmarked");
        sequences = new SequenceTable(this::counter);
        if (share != null && stream().transport() == StreamInfo.Transport.UDP) {
            ask(share);
        }
    }

    private void ask(Share share) {
        try {
            offload(Flow.ANY, policy().share(share));
        } catch (LevelException e) {
            counter("not-offloaded", Counter.Kind.GAUGE).set(1); // The node says why.
        }
    }

    @Override
    public Policy policy() {
        return mark == NO_MARK ? Policy.forward() : Policy.forward().markClass(mark);
    }

    @Override
    public void counted(LevelCounters since) {
        long handled = since.on() + since.dropped();
        if (handled > 0) {
            isPartial = true;
            packets.add(handled);
            bytes.add(since.bytes());
            unmarked.add(since.unmarked());
            range((int) since.smallest(), (int) since.largest());
        }
    }

    private static int mark(ServiceConfig config) {
        if (config.text("mark", "").equals("none")) {
            return NO_MARK;
        }
        try {
            return (int) config.number("mark", 1, 0, 255);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(e.getMessage() + ", or none", e);
        }
    }

    @Override
    public Verdict process(Packet packet) {
        if (mark != NO_MARK && !packet.setClassOfService(mark)) {
            unmarked.add(1);
        }
        int length = packet.length();
        packets.add(1);
        bytes.add(length);
        range(length, length);
        if (packet.has(Option.STREAM)) {
            see(packet);
        }
        return Verdict.FORWARD;
    }

    private void range(int least, int most) {
        smallest.set(least);
        largest.set(most);
    }

    private void see(Packet packet) {
        if (isOffloaded()) {
            isPartial = true;
        } else {
            if (isPartial) {
                isPartial = false;
                sequences.restart();
            }
            sequences.see(packet.streamId(), packet.sequence());
        }
    }
}
