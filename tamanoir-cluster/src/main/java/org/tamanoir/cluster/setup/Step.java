package org.tamanoir.cluster.setup;

import java.net.InetAddress;
import java.util.List;
import java.util.Objects;
import org.tamanoir.cluster.lvs.ClusterException;
import org.tamanoir.cluster.lvs.Program;

/**
 * One thing that a host needs.
 *
 * @param target an interface; the path of a setting
 * @param value address and prefix length, type of a device with its options, value of a setting; empty if there is nothing to say
 * @param usual what a setting is when nobody has changed it; else empty
 */
record Step(Kind kind, String target, String value, String usual) {
    enum Kind {
        /** An interface has an address. */
        ADDRESS,
        /** Any interface has an address; where none has, this one gets it. */
        LOCAL_ADDRESS,
        /** A device is there. The one that the kernel makes along with a module stays when it is taken back. */
        DEVICE,
        /** An interface is up. */
        UP,
        /** A setting has this value. */
        SETTING,
        /** A setting of an interface works as wanted: with it, or with that of all interfaces, which wins if larger. */
        INTERFACE_SETTING
    }

    static Step address(String networkInterface, InetAddress address) {
        return new Step(Kind.ADDRESS, networkInterface, Host.prefix(address), "");
    }

    static Step localAddress(String networkInterface, InetAddress address) {
        return new Step(Kind.LOCAL_ADDRESS, networkInterface, Host.prefix(address), "");
    }

    static Step device(String device, String type) {
        return new Step(Kind.DEVICE, device, type, "");
    }

    static Step up(String device) {
        return new Step(Kind.UP, device, "", "");
    }

    static Step setting(String path, int value, int usual) {
        return new Step(Kind.SETTING, path, Integer.toString(value), Integer.toString(usual));
    }

    /** Returns a setting of IPv4; 0 where nobody has changed it. */
    static Step interfaceSetting(String networkInterface, String name, int value) {
        String path = "net/ipv4/conf/" + networkInterface + "/" + name;
        return new Step(Kind.INTERFACE_SETTING, path, Integer.toString(value), "0");
    }

    boolean isDone(Host host) {
        return switch (kind) {
            case ADDRESS -> host.hasAddress(target, address());
            case LOCAL_ADDRESS -> host.holder(address()).isPresent();
            case DEVICE -> host.has(target);
            case UP -> host.isUp(target);
            case SETTING -> value.equals(Sysctl.read(target));
            case INTERFACE_SETTING -> Sysctl.works(target);
        };
    }

    /** Returns what is to come back when this is undone; empty if that is clear. */
    String former() {
        return isSetting() ? Objects.requireNonNullElse(Sysctl.read(target), usual) : "";
    }

    void make() throws ClusterException {
        if (isSetting()) {
            Sysctl.write(target, value);
            return;
        }
        Program.Result result = Program.run(words());
        boolean isThere = kind == Kind.DEVICE && Host.look().has(target); // it came with the module that this loads
        if (!result.isGood() && !isThere) {
            throw new ClusterException(command() + ": " + result.words());
        }
    }

    /** Leaves what is not as this step made it. */
    void takeBack(String former, Host host) throws ClusterException {
        if (!isMade(host)) {
            return;
        }
        if (isSetting()) {
            Sysctl.write(target, former);
            return;
        }
        Program.Result result = Program.run(undoWords());
        if (!result.isGood() && isMade(Host.look())) {
            throw new ClusterException(undoCommand(former) + ": " + result.words());
        }
    }

    private boolean isMade(Host host) {
        return switch (kind) {
            case LOCAL_ADDRESS -> host.hasAddress(target, address());
            case SETTING, INTERFACE_SETTING -> value.equals(Sysctl.read(target));
            case ADDRESS, DEVICE, UP -> isDone(host);
        };
    }

    String command() {
        return isSetting() ? Sysctl.command(target, value) : String.join(" ", words());
    }

    String undoCommand(String former) {
        return isSetting() ? Sysctl.command(target, former) : String.join(" ", undoWords());
    }

    /** Returns why this step is wanted, and how it is made. */
    String finding() {
        String what = switch (kind) {
            case ADDRESS -> "interface " + target + " lacks the virtual address " + value.split("/", 2)[0];
            case LOCAL_ADDRESS -> "no interface has the virtual address " + value.split("/", 2)[0];
            case DEVICE -> "no tunnel device " + target;
            case UP -> "interface " + target + " is down";
            case SETTING, INTERFACE_SETTING -> Sysctl.name(target) + " is " + former() + ", not " + value;
        };
        return what + ": " + command();
    }

    private boolean isSetting() {
        return kind == Kind.SETTING || kind == Kind.INTERFACE_SETTING;
    }

    private InetAddress address() {
        return Objects.requireNonNull(Host.address(value.split("/", 2)[0]));
    }

    private List<String> words() {
        return switch (kind) {
            case ADDRESS, LOCAL_ADDRESS ->
                kind == Kind.LOCAL_ADDRESS && value.contains(":")
                        ? List.of("ip", "address", "add", value, "dev", target, "nodad") // All back-ends have it.
                        : List.of("ip", "address", "add", value, "dev", target);
            case DEVICE -> List.of(("ip link add " + target + " type " + value).split(" "));
            case UP -> List.of("ip", "link", "set", target, "up");
            case SETTING, INTERFACE_SETTING -> throw new IllegalStateException("no program sets " + target);
        };
    }

    private List<String> undoWords() {
        return switch (kind) {
            case ADDRESS, LOCAL_ADDRESS -> List.of("ip", "address", "del", value, "dev", target);
            case DEVICE -> List.of("ip", "link", "del", target);
            case UP -> List.of("ip", "link", "set", target, "down");
            case SETTING, INTERFACE_SETTING -> throw new IllegalStateException("no program sets " + target);
        };
    }
}
