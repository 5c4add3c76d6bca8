package org.tamanoir.plain;

import java.util.ArrayList;
import java.util.List;
import org.tamanoir.anep.PlainHeaders;
import org.tamanoir.service.FailurePolicy;

/**
 * The rules of a node, in their order: the first that is for a datagram decides.
 *
 * <p>Thread contract: any thread.
 */
public record PlainRules(List<PlainRule> rules) {
    /** The most rules. */
    public static final int MAX_RULES = 64;

    /** No rule. */
    public static final PlainRules NONE = new PlainRules(List.of());

    /** In place of a rule's number. */
    public static final int NO_RULE = -1;

    /** Checks how many there are. */
    public PlainRules {
        rules = List.copyOf(rules);
        if (rules.size() > MAX_RULES) {
            throw new IllegalArgumentException(
                    rules.size() + " rules for plain IP: at most " + MAX_RULES + "; join prefixes or ports");
        }
    }

    public boolean isEmpty() {
        return rules.isEmpty();
    }

    /** Returns the number of the rule that is for a flow, from 0; {@link #NO_RULE} if none is. */
    public int find(PlainFlow flow) {
        for (int rule = 0; rule < rules.size(); rule++) {
            if (rules.get(rule).match().whyNot(flow) == null) {
                return rule;
            }
        }
        return NO_RULE;
    }

    /** Returns a line for each rule up to the one that is for a flow: why the others are not. */
    public List<String> explain(PlainFlow flow) {
        List<String> lines = new ArrayList<>();
        for (int rule = 0; rule < rules.size(); rule++) {
            String why = rules.get(rule).match().whyNot(flow);
            String which = "rule " + (rule + 1) + ", " + rules.get(rule).service() + ": ";
            lines.add(which + (why == null ? "fits" : "not, " + why));
            if (why == null) {
                break;
            }
        }
        return lines;
    }

    /** Returns the headers of packets that stand for their datagrams. */
    public PlainHeaders headers(int typeId) {
        return new PlainHeaders(
                typeId,
                rules.stream()
                        .map(rule -> new PlainHeaders.Wish(
                                rule.serviceKey(), rule.classOfService(), rule.onFailure() == FailurePolicy.DROP))
                        .toList());
    }
}
