package org.tamanoir.node.config;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.tamanoir.cluster.reflect.Direction;
import org.tamanoir.cluster.reflect.MemberConfig;
import org.tamanoir.cluster.reflect.Terms;

/** A reflector's member as people write it: {@code 10.0.0.7:5004,receive,10Mbit/s,class=1}. Stateless; any thread. */
public final class MemberText {
    private static final String CLASS = "class=";
    private static final List<String> DIRECTIONS =
            Arrays.stream(Direction.values()).map(MemberText::word).toList();

    private MemberText() {}

    /**
     * Reads a member; its port must be given.
     *
     * @throws IllegalArgumentException in one line
     */
    public static MemberConfig member(String text) {
        int comma = text.indexOf(',');
        String address = comma < 0 ? text : text.substring(0, comma);
        return new MemberConfig(Endpoint.ofAny(address, 0), comma < 0 ? Terms.OPEN : terms(text.substring(comma + 1)));
    }

    /**
     * Reads what a member may do and gets: words with commas between them.
     *
     * @throws IllegalArgumentException in one line
     */
    public static Terms terms(String text) {
        Direction direction = Direction.BOTH;
        long rate = 0;
        int quality = Terms.ALL;
        for (String word : text.split(",", -1)) {
            if (DIRECTIONS.contains(word)) {
                direction = Direction.valueOf(word.toUpperCase(Locale.ROOT));
            } else if (word.startsWith(CLASS)) {
                quality = Quantity.number(word.substring(CLASS.length()), 0, Terms.ALL);
            } else if (!word.isEmpty() && Character.isDigit(word.charAt(0))) {
                rate = Quantity.byteRate(word, 1, Terms.MAX_RATE);
            } else {
                throw new IllegalArgumentException("'" + word
                        + "' says nothing of a member: send, receive or both, a rate as in 10Mbit/s, or class=N is "
                        + "wanted");
            }
        }
        return new Terms(direction, rate, quality);
    }

    /** Returns the text that {@link #terms} reads as this. */
    public static String of(Terms terms) {
        return word(terms.direction())
                + (terms.rateBytesPerSecond() == 0 ? "" : "," + Quantity.rateText(terms.rateBytesPerSecond()))
                + (terms.quality() == Terms.ALL ? "" : "," + CLASS + terms.quality());
    }

    private static String word(Direction direction) {
        return direction.name().toLowerCase(Locale.ROOT);
    }
}
