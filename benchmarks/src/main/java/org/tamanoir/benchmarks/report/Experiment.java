package org.tamanoir.benchmarks.report;

import java.io.IOException;

/**
 * One part of a report.
 *
 * @param <S> how experiments of the report run
 * @param id as {@code --only} names it
 * @param title as the report shows it
 */
public record Experiment<S>(String id, String title, Body<S> body) {
    /** What runs. */
    public interface Body<S> {
        /** Runs it and fills the section. */
        void run(S settings, Section section) throws IOException;
    }

    Section run(S settings) throws IOException {
        Section section = new Section(id, title);
        body.run(settings, section);
        return section;
    }
}
