package org.tamanoir.services;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.tamanoir.anep.Option;
import org.tamanoir.anep.Packet;

/**
 * One that {@link Reflect} sends to.
 *
 * @param itself matches its address alone
 * @param highest drop precedence of what it gets
 */
record Receiver(InetAddress address, int port, AddressPrefix itself, int highest) {
    private static final Pattern TEXT = Pattern.compile("(?:\\[([^\\]/]+)\\]|([^:/]+)):(\\d{1,5})(?:/(\\d{1,3}))?");
    private static final int MAX_PORT = 65_535;
    private static final int MAX_PRECEDENCE = 255;

    static Receiver parse(String text) {
        Matcher parts = TEXT.matcher(text);
        if (!parts.matches()) {
            throw new IllegalArgumentException("to: '" + text
                    + "' is no receiver: give an address and a port, as in 10.0.0.8:4000 or [2001:db8::8]:4000/1");
        }
        String literal = parts.group(1) == null ? parts.group(2) : parts.group(1);
        int port = Integer.parseInt(parts.group(3));
        int highest = parts.group(4) == null ? MAX_PRECEDENCE : Integer.parseInt(parts.group(4));
        if (port == 0 || port > MAX_PORT || highest > MAX_PRECEDENCE) {
            throw new IllegalArgumentException("to: " + text + ": the port must be 1 to " + MAX_PORT
                    + " and the drop precedence 0 to " + MAX_PRECEDENCE);
        }
        try {
            AddressPrefix itself = AddressPrefix.parse(literal); // Refuses names, which would be looked up.
            return new Receiver(InetAddress.getByName(literal), port, itself, highest);
        } catch (UnknownHostException e) {
            throw new IllegalArgumentException("to: " + literal + " is no address", e);
        }
    }

    boolean isSourceOf(Packet packet) {
        return itself.matches(packet, Option.SOURCE);
    }
}
