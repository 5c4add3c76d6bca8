package org.tamanoir.node.cli;

import org.slf4j.Marker;
import org.slf4j.MarkerFactory;

/** Marks on lines of the log. */
public final class LogMarkers {
    /** Line that is written however many of its kind there are. Only for lines that no stranger can cause. */
    public static final Marker UNLIMITED = MarkerFactory.getMarker("unlimited");

    private LogMarkers() {}
}
