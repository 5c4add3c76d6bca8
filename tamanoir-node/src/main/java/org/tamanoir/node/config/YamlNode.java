package org.tamanoir.node.config;

import java.util.List;

/** A value of a YAML document with the line that it stands on. */
public sealed interface YamlNode {
    /** From 1. */
    int line();

    /** What it is, in a user's words. */
    String kind();

    /** A scalar as written; what it means is up to its key. */
    record Scalar(int line, String text, boolean quoted) implements YamlNode {
        /** Nothing behind the key: it keeps its default. */
        boolean isEmpty() {
            return !quoted && (text.isEmpty() || text.equals("~") || text.equals("null"));
        }

        @Override
        public String kind() {
            return isEmpty() ? "nothing" : "'" + text + "'";
        }
    }

    /** A sequence. */
    record Items(int line, List<YamlNode> items) implements YamlNode {
        @Override
        public String kind() {
            return "a list";
        }
    }

    /** A mapping; keys may repeat, the reader of the configuration reports it. */
    record Fields(int line, List<Field> fields) implements YamlNode {
        @Override
        public String kind() {
            return "a mapping";
        }
    }

    /** A key, its line, and its value. */
    record Field(int line, String key, YamlNode value) {}
}
