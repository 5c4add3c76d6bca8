package org.tamanoir.node.cli;

import java.util.Collection;
import java.util.Optional;

/** Finds what a user most likely meant. */
public final class Suggestion {
    private Suggestion() {}

    /** Returns the known word that is nearest, if a third of its letters or less have to change. */
    public static Optional<String> nearest(String word, Collection<String> known) {
        return org.tamanoir.service.Suggestion.nearest(word, known);
    }
}
