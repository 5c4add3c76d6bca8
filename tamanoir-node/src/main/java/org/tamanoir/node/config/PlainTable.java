package org.tamanoir.node.config;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.ServiceKey;
import org.tamanoir.icmp.IcmpType;
import org.tamanoir.kernel.PlainConfig;
import org.tamanoir.plain.PlainMatch;
import org.tamanoir.plain.PlainRule;
import org.tamanoir.plain.PlainRules;
import org.tamanoir.routing.Prefix;
import org.tamanoir.service.FailurePolicy;

/** The settings of a rule for plain IP. */
final class PlainTable {
    /** First and last. */
    private record Ports(int first, int last) {}

    private static final int ANY = PlainMatch.ANY;
    private static final Kind<Prefix> PREFIX = Kind.of("prefix or address", Prefix::parse, Prefix::toString);

    static final Records<PlainMatch> MATCH = new Records<>("plain.match");
    private static final Setting<PlainMatch.Protocol> PROTOCOL = MATCH.require(
            "protocol",
            Kind.choice(Map.of(
                    "udp", PlainMatch.Protocol.UDP, "tcp", PlainMatch.Protocol.TCP, "icmp", PlainMatch.Protocol.ICMP)),
            "udp",
            PlainMatch::protocol);
    private static final Setting<Prefix> SOURCE = MATCH.add("source", PREFIX, null, "any", PlainMatch::source);
    private static final Setting<Prefix> DESTINATION =
            MATCH.add("destination", PREFIX, null, "any", PlainMatch::destination);
    private static final Setting<Ports> PORTS = MATCH.add(
            "ports",
            Kind.of("port, or `FIRST-LAST`", PlainTable::ports, PlainTable::text),
            null,
            "all",
            match -> isIcmp(match) ? null : new Ports(match.firstPort(), match.lastPort()));
    private static final Setting<List<IcmpType>> TYPES = MATCH.add(
            "types",
            Kind.list(
                    "list of "
                            + Stream.of(IcmpType.values())
                                    .map(IcmpType::word)
                                    .collect(Collectors.joining("`, `", "`", "`")),
                    PlainTable::type,
                    IcmpType::word),
            null,
            "all, of `icmp`",
            match -> isIcmp(match) ? match.types().stream().sorted().toList() : null);
    private static final Setting<Integer> DSCP = MATCH.add(
            "dscp",
            Kind.number("", 0, PlainMatch.MAX_DSCP),
            null,
            "any",
            match -> match.dscp() == ANY ? null : match.dscp());
    private static final Setting<Long> MARK = MATCH.add(
            "fwmark",
            Kind.of("0 to 4294967295, also `0x…`", text -> Quantity.number(text, 0, PlainMatch.MAX_MARK), mark ->
                    (Object) mark),
            null,
            "any",
            match -> match.mark() == ANY ? null : match.mark());
    private static final Setting<Boolean> ALERT =
            MATCH.add("router-alert", Kind.flag(), null, "no matter", PlainMatch::routerAlert);

    static final Records<PlainRule> RULES = new Records<>("plain");
    private static final Setting<PlainMatch> WHAT = RULES.require(
            "match",
            Kind.structured("what a datagram must be", (rule, key) -> match(rule.section(key)), MATCH::data),
            "{protocol: udp}",
            PlainRule::match);
    private static final Setting<String> SERVICE = RULES.require(
            "service",
            Kind.text("name, as of `services`", NodeConfigBuilder::serviceName),
            "org.example.Voice",
            PlainRule::service);
    private static final Setting<Integer> CLASS = RULES.add(
            "class",
            Kind.number("", 0, 255),
            null,
            "none",
            rule -> rule.classOfService() == ANY ? null : rule.classOfService());
    private static final Setting<FailurePolicy> ON_FAILURE = RULES.add(
            "on-failure",
            Kind.choice(Map.of("pass", FailurePolicy.PASS, "drop", FailurePolicy.DROP)),
            FailurePolicy.PASS,
            PlainRule::onFailure);

    static final Kind<List<PlainRule>> KIND = Kind.structured(
            "list of up to " + PlainRules.MAX_RULES + " rules",
            (root, key) -> rules(root.sections(key, PlainRules.MAX_RULES)),
            rules -> rules.stream().map(RULES::data).toList());

    static final Kind<Integer> ALERTS = Kind.number("a second, ", 1, PlainConfig.MAX_ALERTS);

    private PlainTable() {}

    private static List<PlainRule> rules(List<Section> sections) {
        List<PlainRule> rules = new ArrayList<>();
        for (Section section : sections) {
            Values rule = RULES.read(section);
            PlainMatch match = rule.find(WHAT);
            String service = rule.find(SERVICE);
            if (match != null && service != null) {
                Integer wanted = rule.find(CLASS);
                rules.add(new PlainRule(
                        match, service, ServiceKey.of(service), wanted == null ? ANY : wanted, rule.get(ON_FAILURE)));
            }
        }
        return rules;
    }

    private static @Nullable PlainMatch match(Section section) {
        Values match = MATCH.read(section);
        Ports ports = match.find(PORTS);
        Integer dscp = match.find(DSCP);
        Long mark = match.find(MARK);
        PlainMatch.Protocol protocol = match.find(PROTOCOL);
        List<IcmpType> types = match.find(TYPES);
        if (protocol == null) {
            return null;
        }
        boolean isIcmp = protocol == PlainMatch.Protocol.ICMP;
        if (isIcmp ? ports != null : types != null) {
            section.problems()
                    .add(
                            match.where(isIcmp ? PORTS : TYPES),
                            isIcmp ? "ICMP has no ports: write types" : "only ICMP has types: write ports");
            return null;
        }
        if (types != null && types.isEmpty()) {
            if (section.isEmptyList(TYPES.key())) {
                section.problems().add(match.where(TYPES), "no type is here: name at least one, or leave types out");
            }
            return null; // Else what is wrong with them has been said.
        }
        Set<IcmpType> wanted = !isIcmp ? Set.of() : types == null ? EnumSet.allOf(IcmpType.class) : Set.copyOf(types);
        try {
            return new PlainMatch(
                    protocol,
                    match.find(SOURCE),
                    match.find(DESTINATION),
                    ports == null ? 0 : ports.first(),
                    ports == null ? PlainMatch.MAX_PORT : ports.last(),
                    wanted,
                    dscp == null ? ANY : dscp,
                    mark == null ? ANY : mark,
                    match.find(ALERT));
        } catch (IllegalArgumentException e) {
            section.problems().add(match.where(DESTINATION), String.valueOf(e.getMessage()));
            return null;
        }
    }

    private static boolean isIcmp(PlainMatch match) {
        return match.protocol() == PlainMatch.Protocol.ICMP;
    }

    private static IcmpType type(String word) {
        for (IcmpType type : IcmpType.values()) {
            if (type.word().equals(word)) {
                return type;
            }
        }
        throw new IllegalArgumentException("'" + word + "' is no type that rules are for: must be one of "
                + Stream.of(IcmpType.values()).map(IcmpType::word).collect(Collectors.joining(", ")));
    }

    private static Ports ports(String text) {
        int dash = text.indexOf('-');
        String last = dash < 0 ? text : text.substring(dash + 1);
        Ports ports = new Ports(
                Quantity.number(dash < 0 ? text : text.substring(0, dash), 0, PlainMatch.MAX_PORT),
                Quantity.number(last, 0, PlainMatch.MAX_PORT));
        if (ports.first() > ports.last()) {
            throw new IllegalArgumentException(text + ": the first port must not be above the last");
        }
        return ports;
    }

    private static Object text(Ports ports) {
        return ports.first() == ports.last() ? ports.first() : ports.first() + "-" + ports.last();
    }
}
