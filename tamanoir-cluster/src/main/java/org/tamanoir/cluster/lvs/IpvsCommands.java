package org.tamanoir.cluster.lvs;

/** Lines for {@code ipvsadm --restore}, in the words and the order in which {@code --save} writes them. */
final class IpvsCommands {
    private IpvsCommands() {}

    /** Adds a service, without its back-ends. */
    static String add(VirtualService service) {
        return "-A " + at(service.at()) + options(service);
    }

    /** Gives a service that is there these options; those that are not named go back to ipvsadm's defaults. */
    static String edit(VirtualService service) {
        return "-E " + at(service.at()) + options(service);
    }

    /** Removes a service with its back-ends. */
    static String delete(VirtualAddress at) {
        return "-D " + at(at);
    }

    static String add(VirtualAddress at, RealServer server) {
        return "-a " + at(at) + " -r " + server.endpoint() + options(server);
    }

    /** Gives a back-end that is there these options; connections that it has keep their way of forwarding. */
    static String edit(VirtualAddress at, RealServer server) {
        return "-e " + at(at) + " -r " + server.endpoint() + options(server);
    }

    static String delete(VirtualAddress at, RealServer server) {
        return "-d " + at(at) + " -r " + server.endpoint();
    }

    /** Returns how ipvsadm is told which service: {@code -t 10.0.0.1:3322}. */
    static String at(VirtualAddress at) {
        return at.protocol().option() + " " + at.endpoint();
    }

    private static String options(VirtualService service) {
        StringBuilder text =
                new StringBuilder(" -s ").append(service.scheduler().label());
        boolean ipv6 = service.at().isIpv6();
        if (service.persistenceSeconds() > 0) {
            text.append(" -p ").append(service.persistenceSeconds());
            if (service.persistencePrefix() != LvsText.bits(ipv6)) {
                text.append(" -M ").append(LvsText.mask(service.persistencePrefix(), ipv6));
            }
        }
        if (service.onePacket()) {
            text.append(" -o");
        }
        if (!service.flags().isEmpty()) {
            text.append(" -b ").append(String.join(",", service.flags()));
        }
        return text.toString();
    }

    private static String options(RealServer server) {
        StringBuilder text = new StringBuilder(" ")
                .append(server.forwarding().option())
                .append(" -w ")
                .append(server.weight());
        if (server.forwarding() == Forwarding.TUNNEL) {
            text.append(" --tun-type ipip");
        }
        if (server.upper() > 0) {
            text.append(" -x ").append(server.upper());
        }
        if (server.lower() > 0) {
            text.append(" -y ").append(server.lower());
        }
        return text.toString();
    }
}
