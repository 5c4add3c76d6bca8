package org.tamanoir.kernel;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.tamanoir.plain.PlainRule;
import org.tamanoir.plain.PlainRules;

/**
 * Rules, and where the kernel counts what they do: one that stays, wherever among the others, keeps its place.
 *
 * @param places by rule, 0 to {@value PlainAbi#COUNTS} - 1
 * @param fresh places that no rule had before
 */
record PlainPlaces(PlainRules rules, List<Integer> places, List<Integer> fresh) {
    /** No rule. */
    static final PlainPlaces NONE = new PlainPlaces(PlainRules.NONE, List.of(), List.of());

    /** Returns the places of other rules; there are enough, of which none of these rules has one that is fresh. */
    PlainPlaces next(PlainRules wanted) {
        Map<PlainRule, Integer> had = new HashMap<>();
        BitSet taken = new BitSet();
        for (int rule = 0; rule < places.size(); rule++) {
            had.putIfAbsent(rules.rules().get(rule), places.get(rule));
            taken.set(places.get(rule));
        }
        List<Integer> next = new ArrayList<>();
        List<Integer> unused = new ArrayList<>();
        for (PlainRule rule : wanted.rules()) {
            Integer place = had.remove(rule); // Of two that are the same, the second fits nothing.
            if (place == null) {
                place = taken.nextClearBit(0);
                taken.set(place);
                unused.add(place);
            }
            next.add(place);
        }
        return new PlainPlaces(wanted, next, unused);
    }

    /** Puts the places into struct tmn_plain_hook. */
    ByteBuffer putInto(ByteBuffer hook) {
        for (int rule = 0; rule < places.size(); rule++) {
            hook.put(PlainAbi.HookStruct.COUNT + rule, places.get(rule).byteValue());
        }
        return hook;
    }
}
