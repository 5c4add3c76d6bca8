package org.tamanoir.services.morph;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.tamanoir.message.Effect;
import org.tamanoir.message.Needs;

/**
 * A handler as a plan has it.
 *
 * @param settings what stands behind the kind's name in the plan
 * @param made what a handler is made of besides: the formats that the settings name, with their identifiers and defaults
 * @param revision grows each time the handler is to be made anew though nothing of it has changed
 * @param next for each port the stages behind it, {@link Plan#OUT} leaves
 * @param context number of the context; -1 while it is not placed
 * @param passesFailed whether messages that it fails on go on unchanged
 */
record StageSpec(
        String name,
        String kind,
        @Nullable Object settings,
        String made,
        long revision,
        List<List<Integer>> next,
        int context,
        boolean passesFailed,
        Needs needs,
        Effect effect) {

    /** Returns whether a handler made for the other serves this one: its state moves over. */
    boolean isSameHandler(StageSpec other) {
        return name.equals(other.name)
                && kind.equals(other.kind)
                && String.valueOf(settings).equals(String.valueOf(other.settings))
                && made.equals(other.made)
                && revision == other.revision;
    }

    StageSpec withNext(List<List<Integer>> other) {
        return new StageSpec(name, kind, settings, made, revision, other, context, passesFailed, needs, effect);
    }

    StageSpec withContext(int other) {
        return new StageSpec(name, kind, settings, made, revision, next, other, passesFailed, needs, effect);
    }
}
