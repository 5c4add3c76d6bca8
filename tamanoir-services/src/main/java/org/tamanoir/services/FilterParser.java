package org.tamanoir.services;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.tamanoir.format.text.Decimals;
import org.tamanoir.service.Verdict;
import org.tamanoir.services.FilterRule.Comparison;
import org.tamanoir.services.FilterRule.Subject;

/**
 * Reads the rules of {@link Filter}:
 *
 * <pre>
 *   rules     = rule { (";" | line end) rule }            empty ones are skipped
 *   rule      = ("drop" | "close" | "reset" | "pass") condition
 *   condition = "all"
 *             | ("source" | "destination") prefix
 *             | "class" 0..255
 *             | "stream" 0..4294967295
 *             | "size" ("&lt;" | "=" | "&gt;") 0..65535          bytes of the whole packet
 *             | "payload-contains" '"' text '"'           \" and \\ in the text stand for " and \
 * </pre>
 *
 * <p>Thread contract: one thread, one use.
 */
final class FilterParser {
    private static final int MAX_RULES = 256;
    private static final int MAX_PATTERN_BYTES = 1024;
    private static final int MAX_REASON_CHARS = 80;

    private final String text;
    private final List<FilterRule> rules = new ArrayList<>();
    private int at;
    /** Where the rule in hand starts. */
    private int ruleStart;
    /** Where the word in hand starts. */
    private int wordStart;

    private FilterParser(String text) {
        this.text = text;
    }

    /**
     * Returns the rules in their order.
     *
     * @throws IllegalArgumentException with the number of the rule, the column in it, and what is allowed there
     */
    static FilterRule[] parse(String text) {
        FilterParser parser = new FilterParser(text);
        while (parser.findRule()) {
            parser.rules.add(parser.rule());
        }
        return parser.rules.toArray(FilterRule[]::new);
    }

    private boolean findRule() {
        while (at < text.length() && (isEnd(text.charAt(at)) || Character.isWhitespace(text.charAt(at)))) {
            at++;
        }
        ruleStart = at;
        wordStart = at;
        if (at < text.length() && rules.size() == MAX_RULES) {
            throw wrong("one rule too many: at most " + MAX_RULES);
        }
        return at < text.length();
    }

    private FilterRule rule() {
        Verdict verdict = verdict();
        Subject subject = subject();
        switch (subject) {
            case ALL -> {
                return FilterRule.all(verdict, end());
            }
            case SOURCE, DESTINATION -> {
                AddressPrefix prefix = prefix();
                return FilterRule.address(verdict, end(), subject, prefix);
            }
            case CLASS, STREAM -> {
                int number = (int) number(subject == Subject.CLASS ? 255 : 0xFFFF_FFFFL);
                return FilterRule.number(verdict, end(), subject, Comparison.EQUAL, number);
            }
            case SIZE -> {
                Comparison comparison = comparison();
                int number = (int) number(65_535);
                return FilterRule.number(verdict, end(), subject, comparison, number);
            }
            case PAYLOAD_CONTAINS -> {
                byte[] pattern = quoted();
                return FilterRule.payload(verdict, end(), pattern);
            }
        }
        throw new IllegalStateException("no rule for " + subject);
    }

    private Verdict verdict() {
        String word = word();
        return switch (word) {
            case "drop" -> Verdict.DROP;
            case "close" -> Verdict.CLOSE;
            case "reset" -> Verdict.RESET;
            case "pass" -> Verdict.FORWARD;
            default -> throw mustBe(word, "drop, close, reset or pass");
        };
    }

    private Subject subject() {
        String word = word();
        List<String> names = new ArrayList<>();
        for (Subject subject : Subject.values()) {
            String name = subject.name().toLowerCase(Locale.ROOT).replace('_', '-');
            if (name.equals(word)) {
                return subject;
            }
            names.add(name);
        }
        throw mustBe(word, "one of " + String.join(", ", names));
    }

    private AddressPrefix prefix() {
        String word = word();
        try {
            return AddressPrefix.parse(word);
        } catch (IllegalArgumentException e) {
            throw mustBe(word, "an address or prefix such as 10.0.0.0/8 or 2001:db8::/32 (" + e.getMessage() + ")");
        }
    }

    private long number(long max) {
        String word = word();
        try {
            return Decimals.whole(word, 0, max);
        } catch (NumberFormatException e) {
            throw mustBe(word, "a whole number from 0 to " + max);
        }
    }

    private Comparison comparison() {
        skipBlanks();
        wordStart = at;
        char sign = at < text.length() ? text.charAt(at) : ' ';
        at++;
        return switch (sign) {
            case '<' -> Comparison.BELOW;
            case '=' -> Comparison.EQUAL;
            case '>' -> Comparison.ABOVE;
            default -> {
                at--;
                throw mustBe(word(), "<, = or >");
            }
        };
    }

    private byte[] quoted() {
        skipBlanks();
        wordStart = at;
        if (at == text.length() || text.charAt(at) != '"') {
            throw mustBe(word(), "text in double quotes");
        }
        StringBuilder content = new StringBuilder();
        for (at++; at < text.length() && text.charAt(at) != '"'; at++) {
            char c = text.charAt(at);
            if (c == '\\') {
                at++;
                c = at < text.length() ? text.charAt(at) : ' ';
                if (c != '"' && c != '\\') {
                    throw wrong("a backslash in quotes must stand before \" or \\");
                }
            }
            content.append(c);
        }
        if (at == text.length()) {
            throw wrong("no closing quote: end the text with \"");
        }
        at++;
        byte[] pattern = content.toString().getBytes(StandardCharsets.UTF_8);
        if (pattern.length == 0 || pattern.length > MAX_PATTERN_BYTES) {
            throw wrong("text of " + pattern.length + " bytes: must be 1 to " + MAX_PATTERN_BYTES);
        }
        return pattern;
    }

    /** Ends a rule, behind which nothing may follow. Returns what packets are counted under that it drops. */
    private String end() {
        int end = at;
        String word = word();
        if (!word.isEmpty()) {
            throw mustBe(word, "the end of the rule: ; or a new line");
        }
        String rule = text.substring(ruleStart, end);
        String shown = rule.length() <= MAX_REASON_CHARS ? rule : rule.substring(0, MAX_REASON_CHARS) + "…";
        return "rule " + (rules.size() + 1) + ": " + shown.replace('\n', ' ');
    }

    /** Returns the next word of this rule, empty at its end. */
    private String word() {
        skipBlanks();
        wordStart = at;
        while (at < text.length() && !isEnd(text.charAt(at)) && !Character.isWhitespace(text.charAt(at))) {
            at++;
        }
        return text.substring(wordStart, at);
    }

    private void skipBlanks() {
        while (at < text.length() && Character.isWhitespace(text.charAt(at)) && !isEnd(text.charAt(at))) {
            at++;
        }
    }

    private static boolean isEnd(char c) {
        return c == ';' || c == '\n' || c == '\r';
    }

    private IllegalArgumentException mustBe(String word, String allowed) {
        return wrong((word.isEmpty() ? "nothing there" : "\"" + word + "\"") + ": must be " + allowed);
    }

    private IllegalArgumentException wrong(String what) {
        int end = ruleStart;
        while (end < text.length() && !isEnd(text.charAt(end))) {
            end++;
        }
        return new IllegalArgumentException("rules: rule " + (rules.size() + 1) + " (" + text.substring(ruleStart, end)
                + "), column " + (wordStart - ruleStart + 1) + ": " + what);
    }
}
