package org.tamanoir.services;

import org.tamanoir.anep.Packet;
import org.tamanoir.service.Counter;
import org.tamanoir.service.Service;
import org.tamanoir.service.ServiceConfig;
import org.tamanoir.service.Verdict;

/**
 * Drops packets by rule. The first rule that a packet meets decides:
 *
 * <pre>
 *   drop source 10.0.0.0/8
 *   pass destination 2001:db8::/32; drop class 3; drop stream 7
 *   drop size &gt; 1400
 *   drop payload-contains "text"
 *   pass all
 * </pre>
 *
 * <p>Rules stand on lines of their own or behind semicolons, at most 256: see {@link FilterParser} for the grammar.
 * Prefixes are compared with the identifiers that the packet carries, {@code size} with the octets of the whole
 * packet; a packet without the option that a rule looks at does not meet it.
 *
 * <table><caption>Settings</caption>
 * <tr><th>name</th><th>default</th><th>allowed</th></tr>
 * <tr><td>{@code rules}</td><td>none</td><td>text as above</td></tr>
 * <tr><td>{@code default}</td><td>{@code pass}</td><td>{@code pass} or {@code drop}: for packets that meet no
 * rule</td></tr>
 * </table>
 *
 * <p>Counters: {@code packets}, {@code passed}. Drops: {@code rule N: } and the rule's text, up to 80 characters of
 * it, or {@code no rule matched}. Per packet it allocates nothing.
 */
public final class Filter extends Service {
    private enum Action {
        PASS,
        DROP
    }

    private FilterRule[] rules = {};
    private FilterRule otherwise = FilterRule.all(false, "");
    private Counter packets = new Counter("packets");
    private Counter passed = new Counter("passed");

    @Override
    public void init(ServiceConfig config) {
        config.allow("rules", "default");
        rules = FilterParser.parse(config.text("rules", ""));
        otherwise = FilterRule.all(config.choice("default", Action.PASS) == Action.DROP, "no rule matched");
        packets = counter("packets");
        passed = counter("passed");
    }

    @Override
    public Verdict process(Packet packet) {
        packets.add(1);
        FilterRule rule = deciding(packet);
        if (rule.drops()) {
            return drop(rule.dropReason());
        }
        passed.add(1);
        return Verdict.FORWARD;
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
