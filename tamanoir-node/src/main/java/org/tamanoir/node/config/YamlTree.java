package org.tamanoir.node.config;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Pattern;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.api.lowlevel.Parse;
import org.snakeyaml.engine.v2.events.AliasEvent;
import org.snakeyaml.engine.v2.events.CollectionStartEvent;
import org.snakeyaml.engine.v2.events.Event;
import org.snakeyaml.engine.v2.events.NodeEvent;
import org.snakeyaml.engine.v2.events.ScalarEvent;
import org.snakeyaml.engine.v2.exceptions.Mark;
import org.snakeyaml.engine.v2.exceptions.MarkedYamlEngineException;
import org.snakeyaml.engine.v2.exceptions.ReaderException;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;
import org.tamanoir.format.text.StrictUtf8;

/**
 * Builds a tree with lines from the events of a YAML document. Anchors, aliases and tags are refused: a
 * configuration needs none, and aliases can blow a small file up. One document, nested at most
 * {@value #MAX_DEPTH} deep.
 */
public final class YamlTree {
    static final int MAX_DEPTH = 16;

    private static final int MIN_BUFFER_CHARS = 1024;

    /** What the parser takes no number for, and fails. */
    private static final Pattern UNREAD = Pattern.compile("\\\\([xuU]\\z|U[89a-fA-F])");

    private final Iterator<Event> events;

    private YamlTree(Iterator<Event> events) {
        this.events = events;
    }

    /** A text that is no YAML document of ours, and where. */
    static final class SyntaxException extends Exception {
        private static final long serialVersionUID = 1L;

        final int line;

        SyntaxException(int line, String what) {
            super(what.replaceAll("[\\s\\p{Cntrl}]+", " ")); // The parser quotes what it met: one line.
            this.line = line;
        }
    }

    /** The document's tree; an empty text is an empty mapping. */
    public static YamlNode parse(String text) throws SyntaxException {
        // Read at once: the parser fails at a character of two surrogates on the edge of its buffer.
        LoadSettings settings = LoadSettings.builder()
                .setCodePointLimit(Integer.MAX_VALUE)
                .setBufferSize(Math.max(MIN_BUFFER_CHARS, text.length() + 1))
                .build();
        try {
            YamlTree tree = new YamlTree(new Parse(settings).parseString(text).iterator());
            return tree.document();
        } catch (MarkedYamlEngineException e) {
            int line = e.getProblemMark().map(mark -> mark.getLine() + 1).orElse(1);
            String context = e.getContext() == null ? "" : e.getContext() + ": ";
            String remedy = context.contains("flow") ? "; a text with brackets or colons needs quotes there" : "";
            throw new SyntaxException(line, "no valid YAML: " + context + e.getProblem() + remedy);
        } catch (ReaderException e) {
            int line = 1
                    + (int) text.codePoints()
                            .limit(e.getPosition())
                            .filter(c -> c == '\n')
                            .count();
            throw new SyntaxException(
                    line,
                    String.format(Locale.ROOT, "no valid YAML: character U+%04X is not allowed", e.getCodePoint()));
        } catch (YamlEngineException e) {
            throw new SyntaxException(1, "no valid YAML: " + e.getMessage());
        } catch (NumberFormatException e) { // Of digits that are not there, or too large for an int.
            String before = UNREAD.split(text, 2)[0];
            int line = 1 + (int) before.chars().filter(c -> c == '\n').count();
            throw new SyntaxException(
                    line, "no valid YAML: behind \\x, \\u or \\U the number of a character is wanted");
        }
    }

    private YamlNode document() throws SyntaxException {
        events.next(); // stream start
        Event first = events.next();
        if (first.getEventId() == Event.ID.StreamEnd) {
            return new YamlNode.Fields(1, List.of());
        }
        YamlNode root = node(events.next(), 0);
        events.next(); // document end
        Event next = events.next();
        if (next.getEventId() != Event.ID.StreamEnd) {
            throw new SyntaxException(line(next), "a second document begins: one is wanted, remove the '---'");
        }
        return root;
    }

    private YamlNode node(Event event, int depth) throws SyntaxException {
        int line = line(event);
        if (depth > MAX_DEPTH) {
            throw new SyntaxException(line, "nested deeper than " + MAX_DEPTH + ": no setting is");
        }
        if (event instanceof AliasEvent
                || event instanceof NodeEvent node && node.getAnchor().isPresent()) {
            throw new SyntaxException(line, "anchors and aliases (& and *) are not allowed: write the value out");
        }
        if (event instanceof ScalarEvent scalar && scalar.getTag().isPresent()
                || event instanceof CollectionStartEvent collection
                        && collection.getTag().isPresent()) {
            throw new SyntaxException(line, "tags (!) are not allowed: put a text into quotes instead");
        }
        if (event instanceof ScalarEvent scalar) {
            if (!StrictUtf8.isText(scalar.getValue())) {
                throw new SyntaxException(line, "a surrogate stands alone, which is no character");
            }
            return new YamlNode.Scalar(line, scalar.getValue(), !scalar.isPlain());
        }
        return event.getEventId() == Event.ID.SequenceStart ? items(line, depth) : fields(line, depth);
    }

    private YamlNode items(int line, int depth) throws SyntaxException {
        List<YamlNode> items = new ArrayList<>();
        for (Event next = events.next(); next.getEventId() != Event.ID.SequenceEnd; next = events.next()) {
            items.add(node(next, depth + 1));
        }
        return new YamlNode.Items(line, items);
    }

    private YamlNode fields(int line, int depth) throws SyntaxException {
        List<YamlNode.Field> fields = new ArrayList<>();
        for (Event next = events.next(); next.getEventId() != Event.ID.MappingEnd; next = events.next()) {
            if (!(node(next, depth + 1) instanceof YamlNode.Scalar key)) {
                throw new SyntaxException(line(next), "a key is a list or a mapping: a word is wanted");
            }
            fields.add(new YamlNode.Field(key.line(), key.text(), node(events.next(), depth + 1)));
        }
        return new YamlNode.Fields(line, fields);
    }

    private static int line(Event event) {
        Optional<Mark> mark = event.getStartMark();
        return mark.isPresent() ? mark.get().getLine() + 1 : 1;
    }
}
