package org.tamanoir.services;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.tamanoir.anep.AddressText;
import org.tamanoir.anep.Option;
import org.tamanoir.anep.Packet;
import org.tamanoir.format.text.Decimals;

/**
 * One that {@link Reflect} sends to.
 *
 * @param itself matches its address alone
 * @param highest drop precedence of what it gets
 */
record Receiver(InetAddress address, int port, AddressPrefix itself, int highest) {
    private static final int MAX_PRECEDENCE = 255;

    /** Reads {@code 10.0.0.8:4000}, {@code [2001:db8::8]:4000/1}, the number being the highest drop precedence. */
    static Receiver parse(String text) {
        int slash = text.indexOf('/');
        try {
            InetSocketAddress to = AddressText.withPort(slash < 0 ? text : text.substring(0, slash));
            long highest = slash < 0 ? MAX_PRECEDENCE : Decimals.whole(text.substring(slash + 1), 0, MAX_PRECEDENCE);
            InetAddress address = to.getAddress();
            return new Receiver(address, to.getPort(), AddressPrefix.parse(address.getHostAddress()), (int) highest);
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException(
                    "to: " + text + ": the drop precedence must be 0 to " + MAX_PRECEDENCE, e);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("to: " + e.getMessage(), e);
        }
    }

    boolean isSourceOf(Packet packet) {
        return itself.matches(packet, Option.SOURCE);
    }
}
