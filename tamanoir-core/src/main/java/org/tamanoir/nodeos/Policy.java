package org.tamanoir.nodeos;

import java.util.List;

/**
 * What a level below the Java virtual machine does with the packets of a flow: some go up (share); of the others,
 * which it handles itself, those that a rule drops end, the rest are marked and meet their fate. It counts them all.
 *
 * <p>For TCP a level decides about connections when they begin: the share counts connections, the fate is to go on or
 * to end, and there is neither mark nor rule.
 *
 * @param rules at most {@value #MAX_RULES}
 * @param otherwiseDrops whether packets that meet no rule end; false without rules
 */
public record Policy(Share share, Mark mark, List<Rule> rules, boolean otherwiseDrops, Fate fate) {
    /** The most rules of one policy. */
    public static final int MAX_RULES = 16;

    /** Checks the rules. */
    public Policy {
        rules = List.copyOf(rules);
        if (rules.size() > MAX_RULES) {
            throw new IllegalArgumentException(rules.size() + " rules: a level takes at most " + MAX_RULES);
        }
        if (rules.isEmpty() && otherwiseDrops) {
            throw new IllegalArgumentException("no rules, and packets that meet none end: use drop()");
        }
    }

    /** Returns a policy by which all packets are counted and go on. */
    public static Policy forward() {
        return new Policy(Share.NONE, new Mark.None(), List.of(), false, new Fate.On());
    }

    /** Returns a policy by which all packets are counted and end. */
    public static Policy drop() {
        return forward().fate(new Fate.Drop());
    }

    /** Returns a policy by which all packets are counted and go up to the Java virtual machine. */
    public static Policy up() {
        return forward().share(Share.ALL);
    }

    /** Returns the same with another share. */
    public Policy share(Share share) {
        return new Policy(share, mark, rules, otherwiseDrops, fate);
    }

    /** Returns the same with another mark. */
    public Policy mark(Mark mark) {
        return new Policy(share, mark, rules, otherwiseDrops, fate);
    }

    /** Returns the same with the class of service written into packets. */
    public Policy markClass(int classOfService) {
        return mark(new Mark.ClassOfService(classOfService));
    }

    /** Returns the same with these rules. */
    public Policy rules(List<Rule> rules, boolean otherwiseDrops) {
        return new Policy(share, mark, rules, otherwiseDrops, fate);
    }

    /** Returns the same with another fate. */
    public Policy fate(Fate fate) {
        return new Policy(share, mark, rules, otherwiseDrops, fate);
    }
}
