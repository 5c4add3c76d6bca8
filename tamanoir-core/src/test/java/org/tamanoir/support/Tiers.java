package org.tamanoir.support;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.Arrays;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Assumptions;

/**
 * Tests that need more than any host has: native sockets, root, a second program. Where the host lacks it they are
 * skipped with the reason, unless {@code -Drequire.tiers=a,b} names their tier, or {@code all}: then they fail.
 */
public final class Tiers {
    /** System property: tiers that must not be skipped, comma separated. */
    static final String REQUIRED = "require.tiers";

    private Tiers() {}

    /**
     * Skips the test, or fails it where its tier is required, unless the tier is available.
     *
     * @param whyNot what the host lacks; printed with the test's name
     */
    public static void require(String name, boolean available, String whyNot) {
        if (available) {
            return;
        }
        String message = "tier " + name + ": " + whyNot;
        if (isRequired(name)) {
            Assertions.fail(message + "; -D" + REQUIRED + "=" + System.getProperty(REQUIRED) + " forbids to skip it");
        }
        Assumptions.abort(message);
    }

    /** Skips the test, or fails it where the tier is required, unless this host has IPv6 on its loopback interface. */
    public static void requireIpv6() {
        boolean works = true;
        try {
            new ServerSocket(0, 1, InetAddress.getByName("::1")).close();
        } catch (IOException e) {
            works = false;
        }
        require("ipv6", works, "no IPv6 loopback here");
    }

    private static boolean isRequired(String name) {
        return Arrays.stream(System.getProperty(REQUIRED, "").split(","))
                .map(String::strip)
                .anyMatch(tier -> tier.equals(name) || tier.equals("all"));
    }
}
