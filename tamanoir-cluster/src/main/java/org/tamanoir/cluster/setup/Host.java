package org.tamanoir.cluster.setup;

import com.google.common.net.InetAddresses;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.tamanoir.cluster.lvs.ClusterException;
import org.tamanoir.cluster.lvs.Program;
import org.tamanoir.format.text.JsonFaults;
import org.tamanoir.routing.Prefix;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Interfaces and addresses of the calling thread's network namespace at one moment, as {@code ip} tells them. Immutable.
 */
final class Host {
    private static final JsonMapper MAPPER = JsonMapper.shared();

    /**
     * A network interface.
     *
     * @param isUp set up by the administrator; its cable may be out
     * @param hasNeighbours with hardware addresses that can be asked for
     * @param hardware address; empty if it has none
     * @param failed addresses that another host has, as the kernel found out (RFC 4862)
     */
    private record Interface(
            boolean isUp,
            boolean hasNeighbours,
            String hardware,
            List<InetAddress> addresses,
            List<InetAddress> failed) {}

    private final Map<String, Interface> interfaces;

    private Host(Map<String, Interface> interfaces) {
        this.interfaces = interfaces;
    }

    static Host look() throws ClusterException {
        Map<String, Interface> found = new LinkedHashMap<>();
        for (JsonNode each : json("ip", "-json", "address", "show")) {
            List<InetAddress> addresses = new ArrayList<>();
            List<InetAddress> failed = new ArrayList<>();
            for (JsonNode address : each.path("addr_info")) {
                InetAddress local = address(address.path("local").asString(""));
                if (local != null) {
                    (address.path("dadfailed").asBoolean(false) ? failed : addresses).add(local);
                }
            }
            found.put(
                    each.path("ifname").asString(""),
                    new Interface(
                            hasFlag(each, "UP"),
                            each.path("link_type").asString("").equals("ether") && !hasFlag(each, "NOARP"),
                            each.path("address").asString(""),
                            addresses,
                            failed));
        }
        return new Host(found);
    }

    private static boolean hasFlag(JsonNode link, String flag) {
        for (JsonNode each : link.path("flags")) {
            if (each.asString("").equals(flag)) {
                return true;
            }
        }
        return false;
    }

    /** Returns what a program says in JSON; nothing said is an empty list. */
    static JsonNode json(String... command) throws ClusterException {
        String said = Program.good(List.of(command));
        try {
            return MAPPER.readTree(said.isBlank() ? "[]" : said);
        } catch (JacksonException e) {
            throw new ClusterException(
                    String.join(" ", command) + ": no JSON, iproute2 4.12 or later is wanted: " + JsonFaults.why(e), e);
        }
    }

    /** Returns the address of a text; null if it is none. Asks no name server. */
    static @Nullable InetAddress address(String text) {
        return InetAddresses.isInetAddress(text) ? InetAddresses.forString(text) : null;
    }

    boolean has(String networkInterface) {
        return interfaces.containsKey(networkInterface);
    }

    boolean isUp(String networkInterface) {
        Interface found = interfaces.get(networkInterface);
        return found != null && found.isUp();
    }

    /** Returns whether hosts on the interface's link are found by asking all for an address. */
    boolean hasNeighbours(String networkInterface) {
        Interface found = interfaces.get(networkInterface);
        return found != null && found.hasNeighbours();
    }

    boolean hasAddress(String networkInterface, InetAddress address) {
        Interface found = interfaces.get(networkInterface);
        return found != null && found.addresses().contains(address);
    }

    /** Returns whether the kernel holds the address back, as another host has it. */
    boolean hasFailed(String networkInterface, InetAddress address) {
        Interface found = interfaces.get(networkInterface);
        return found != null && found.failed().contains(address);
    }

    /** Returns the interface that has an address. */
    Optional<String> holder(InetAddress address) {
        return interfaces.entrySet().stream()
                .filter(each -> each.getValue().addresses().contains(address))
                .map(Map.Entry::getKey)
                .findFirst();
    }

    /** Returns addresses of all hardware here. */
    List<String> hardware() {
        return interfaces.values().stream()
                .map(Interface::hardware)
                .filter(address -> !address.isEmpty())
                .toList();
    }

    /** Returns {@code 10.0.0.1/32}, {@code fd00::1/128}. */
    static String prefix(InetAddress address) {
        return Prefix.of(address).toString();
    }

    /** Returns {@code 10.0.0.1}, {@code fd00::1}. */
    static String text(InetAddress address) {
        return prefix(address).split("/", 2)[0];
    }
}
