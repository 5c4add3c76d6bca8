package org.tamanoir.routing;

import java.io.EOFException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.zip.ZipException;

/** Collects what is wrong with a file, the first {@value #MAX} problems in a line each. Thread contract: one thread. */
final class FileProblems {
    static final int MAX = 20;

    /** Reads a file. */
    interface Reading {
        void read() throws IOException;
    }

    private final String name;
    private final List<String> lines = new ArrayList<>();
    private final List<String> withoutContent = new ArrayList<>();
    private long count;
    private boolean isEndedEarly;

    /** @param name stands before each problem */
    FileProblems(String name) {
        this.name = name;
    }

    /**
     * Has a file read.
     *
     * @throws RouteFileException with all problems, if there are any
     */
    void during(Reading reading) throws RouteFileException {
        try {
            reading.read();
        } catch (EOFException e) {
            add("", "ends too early: it is cut off; get it again");
        } catch (ZipException e) {
            add("", "is damaged (" + e.getMessage() + "); get it again");
        } catch (IOException e) {
            add("", "cannot be read: " + (e.getMessage() == null ? e.getClass().getSimpleName() : e.getMessage()));
        }
        if (count == 0) {
            return;
        }
        if (isEndedEarly) {
            addLine("", "reading ended here, there may be more problems");
        } else if (count > MAX) {
            addLine("", count - MAX + " more problems");
        }
        throw new RouteFileException(
                lines,
                withoutContent,
                count == 1 ? withoutContent.get(0) : (isEndedEarly ? "at least " : "") + count + " things are wrong");
    }

    /** Adds a problem at a place in the file. */
    void add(String where, String text) {
        if (++count <= MAX) {
            addLine(where, text);
        }
    }

    /** Says that what follows is not read. */
    void endEarly() {
        isEndedEarly = true;
    }

    boolean isEmpty() {
        return count == 0;
    }

    boolean isFull() {
        return count >= MAX;
    }

    private void addLine(String where, String text) {
        lines.add(name + where + ": " + visible(text));
        withoutContent.add(name + where + ": "
                + (where.isEmpty() ? text : "is wrong; 'node --validate --routes' on the node's host says why"));
    }

    /** Returns a text with {@code \}{@code u001b} in place of what a terminal would obey or not show. */
    private static String visible(String text) {
        StringBuilder visible = new StringBuilder();
        text.codePoints().forEach(c -> {
            switch (Character.getType(c)) {
                case Character.CONTROL,
                        Character.FORMAT,
                        Character.SURROGATE,
                        Character.UNASSIGNED,
                        Character.PRIVATE_USE,
                        Character.LINE_SEPARATOR,
                        Character.PARAGRAPH_SEPARATOR -> visible.append(String.format(Locale.ROOT, "\\u%04x", c));
                default -> visible.appendCodePoint(c);
            }
        });
        return visible.toString();
    }
}
