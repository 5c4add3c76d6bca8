package org.tamanoir.benchmarks;

import java.net.InetSocketAddress;
import java.util.Arrays;
import java.util.Map;
import java.util.stream.Collectors;

/** What a part of the load is told when it starts, as in {@code port=4000 size=200}. Immutable. */
public final class Arguments {
    private final Map<String, String> values;

    Arguments(String... words) {
        values = Arrays.stream(words).map(word -> word.split("=", 2)).collect(Collectors.toMap(w -> w[0], w -> w[1]));
    }

    /** Returns a value. */
    public String text(String name) {
        String value = values.get(name);
        if (value == null) {
            throw new IllegalArgumentException(name + "= is missing: there are " + values.keySet());
        }
        return value;
    }

    /** Returns a value, or what stands for one that is left out. */
    String text(String name, String leftOut) {
        return values.getOrDefault(name, leftOut);
    }

    /** Returns a value that is a number. */
    public int number(String name) {
        return Integer.parseInt(text(name));
    }

    /** Returns a value that is true or false. */
    public boolean flag(String name) {
        return Boolean.parseBoolean(text(name));
    }

    /** Returns a value that is an IPv4 address and a port. */
    public InetSocketAddress address(String name) {
        return Load.address(text(name));
    }
}
