package org.tamanoir.services;

import java.util.ArrayList;
import java.util.List;
import org.tamanoir.anep.Packet;
import org.tamanoir.nodeos.Flow;
import org.tamanoir.nodeos.LevelCounters;
import org.tamanoir.nodeos.LevelException;
import org.tamanoir.nodeos.Policy;
import org.tamanoir.nodeos.Rule;
import org.tamanoir.nodeos.Share;
import org.tamanoir.service.Counter;
import org.tamanoir.service.Service;
import org.tamanoir.service.ServiceConfig;
import org.tamanoir.service.Setting;
import org.tamanoir.service.Settings;
import org.tamanoir.service.StreamInfo;
import org.tamanoir.service.Verdict;

/**
 * Drops packets by rule. The first rule that a packet meets decides:
 *
 * <pre>
 *   drop source 10.0.0.0/8
 *   pass destination 2001:db8::/32; drop class 3; drop stream 7
 *   drop size &gt; 1400
 *   drop payload-contains "text"
 *   reset source 192.0.2.0/24
 *   pass all
 * </pre>
 *
 * <p>{@code drop} ends a packet, {@code close} its TCP stream too, as if its sender had ended it before the packet, and
 * {@code reset} breaks that stream: both sides see it at once. Over UDP all three drop. In front of programs that know no
 * packets, as behind a gateway, {@code close} or {@code reset} is what is wanted: they wait for octets that were dropped.
 *
 * <p>Rules stand on lines of their own or behind semicolons, at most 256: see {@link FilterParser} for the grammar.
 * Prefixes are compared with the identifiers that the packet carries, {@code size} with the bytes of the whole
 * packet; a packet without the option that a rule looks at does not meet it.
 *
 * <p>A level below can do the same with up to 16 rules, none of them on the payload.
 *
 * <p>Counters: {@code packets}, {@code passed}, and {@code not-offloaded}, which is 1 if the service asked for a level
 * below and none could. Drops: {@code rule N: } and the rule's text, up to 80 characters of
 * it, or {@code no rule matched}. Per packet it allocates nothing.
 */
@Settings(
        of = OffloadSetting.class,
        value = {
            @Setting(
                    name = "rules",
                    text = "rules, one a line or separated by semicolons; without one the default decides"),
            @Setting(
                    name = "default",
                    kind = Setting.Kind.CHOICE,
                    standard = "pass",
                    choices = {"pass", "drop", "close", "reset"},
                    text = "for packets that meet no rule")
        })
public final class Filter extends Service {
    private enum Action {
        PASS(Verdict.FORWARD),
        DROP(Verdict.DROP),
        CLOSE(Verdict.CLOSE),
        RESET(Verdict.RESET);

        private final Verdict verdict;

        Action(Verdict verdict) {
            this.verdict = verdict;
        }
    }

    private FilterRule[] rules = {};
    private FilterRule otherwise = FilterRule.all(Verdict.FORWARD, "");
    private Counter packets = new Counter("packets");
    private Counter passed = new Counter("passed");

    @Override
    public void init(ServiceConfig config) {
        config.allow("rules", "default", "offload");
        rules = FilterParser.parse(config.text("rules", ""));
        otherwise = FilterRule.all(config.choice("default", Action.PASS).verdict, "no rule matched");
        packets = counter("packets");
        passed = counter("passed");
        Share share = OffloadSetting.of(config).share();
        if (share != null && stream().transport() == StreamInfo.Transport.UDP) {
            ask(share);
        }
    }

    private void ask(Share share) {
        try {
            offload(Flow.ANY, policy().share(share));
        } catch (LevelException e) {
            counter("not-offloaded", Counter.Kind.GAUGE).set(1); // The node says why, where it is not for the rules.
        }
    }

    @Override
    public Policy policy() throws LevelException {
        if (rules.length > Policy.MAX_RULES) {
            throw new LevelException(rules.length + " rules: a level below takes at most " + Policy.MAX_RULES
                    + "; join some, or stay in the JVM");
        }
        if (rules.length == 0) {
            return otherwise.drops() ? Policy.drop() : Policy.forward();
        }
        List<Rule> below = new ArrayList<>();
        for (FilterRule rule : rules) {
            Rule same = rule.below();
            if (same == null) {
                throw new LevelException("rule " + (below.size() + 1)
                        + " looks at the payload: a level below reads headers alone; leave it out, or stay in the JVM");
            }
            below.add(same);
        }
        return Policy.forward().rules(below, otherwise.drops());
    }

    @Override
    public void counted(LevelCounters since) {
        packets.add(since.on() + since.dropped());
        passed.add(since.on());
        long[] drops = since.ruleDrops();
        long others = since.dropped();
        for (int i = 0; i < rules.length && i < drops.length; i++) {
            others -= drops[i];
            dropBelow(rules[i], drops[i]);
        }
        dropBelow(otherwise, others);
    }

    private void dropBelow(FilterRule rule, long dropped) {
        if (dropped > 0) {
            droppedBelow(rule.dropReason(), dropped);
        }
    }

    @Override
    public Verdict process(Packet packet) {
        packets.add(1);
        FilterRule rule = deciding(packet);
        return switch (rule.verdict()) {
            case CLOSE -> closeStream(rule.dropReason());
            case RESET -> resetStream(rule.dropReason());
            case DROP -> drop(rule.dropReason());
            default -> {
                passed.add(1);
                yield Verdict.FORWARD;
            }
        };
    }

    private FilterRule deciding(Packet packet) {
        for (FilterRule rule : rules) {
            if (rule.matches(packet)) {
                return rule;
            }
        }
        return otherwise;
    }
}
