package org.tamanoir.node.admin;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.tamanoir.ee.ExecutionEnvironment;
import org.tamanoir.icmp.IcmpType;
import org.tamanoir.node.config.Endpoint;
import org.tamanoir.plain.PlainFlow;
import org.tamanoir.plain.PlainMatch;
import org.tamanoir.plain.PlainRule;
import org.tamanoir.plain.PlainRules;
import org.tamanoir.plain.PlainTraffic;
import org.tamanoir.routing.Addresses;
import org.tamanoir.routing.Prefix;

/** What the API shows of plain IP, as openapi.yaml describes it. Any thread may call. */
final class PlainViews {
    private PlainViews() {}

    /** How it stands, and what each rule did. */
    record Plain(boolean there, String detail, Map<String, Long> met, long lost, List<OneRule> rules) {
        static Plain of(PlainTraffic plain) {
            PlainTraffic.Status status = plain.status();
            List<OneRule> rules = new ArrayList<>();
            for (PlainRule rule : plain.rules().rules()) {
                int number = rules.size();
                rules.add(OneRule.of(
                        number + 1,
                        rule,
                        number < status.rules().size()
                                ? status.rules().get(number)
                                : new PlainTraffic.RuleCount(0, 0)));
            }
            return new Plain(status.isThere(), status.detail(), status.met(), status.lost(), rules);
        }
    }

    /** A rule. */
    record OneRule(
            int rule,
            String protocol,
            String service,
            @Nullable String source,
            @Nullable String destination,
            @Nullable String ports,
            @Nullable String types,
            @Nullable Integer dscp,
            @Nullable Long fwmark,
            @Nullable Boolean routerAlert,
            @Nullable Integer classOfService,
            String onFailure,
            long fits,
            long up) {
        static OneRule of(int number, PlainRule rule, PlainTraffic.RuleCount count) {
            PlainMatch match = rule.match();
            boolean isIcmp = match.protocol() == PlainMatch.Protocol.ICMP;
            return new OneRule(
                    number,
                    match.protocol().word(),
                    rule.service(),
                    text(match.source()),
                    text(match.destination()),
                    isIcmp ? null : match.ports(),
                    isIcmp ? match.typeWords() : null,
                    match.dscp() == PlainMatch.ANY ? null : match.dscp(),
                    match.mark() == PlainMatch.ANY ? null : match.mark(),
                    match.routerAlert(),
                    rule.classOfService() == PlainMatch.ANY ? null : rule.classOfService(),
                    Views.word(rule.onFailure()),
                    count.fits(),
                    count.up());
        }

        private static @Nullable String text(@Nullable Prefix prefix) {
            return prefix == null ? null : prefix.toString();
        }
    }

    /** What becomes of a datagram, and why: a line for each rule that was looked at, and what else counts. */
    record Explained(@Nullable Integer rule, boolean up, String because, List<String> rules) {
        private static final Pattern TYPE_AND_CODE = Pattern.compile("([0-9]{1,3})(?:/([0-9]{1,3}))?");
        private static final int MAX_OCTET = 255;

        /**
         * Explains what becomes of one that the query describes.
         *
         * @throws ApiException if it describes none
         */
        static Explained of(ExecutionEnvironment environment, Call call) throws ApiException {
            String named = call.query("protocol");
            boolean isIcmp = PlainMatch.Protocol.ICMP.word().equals(named);
            InetSocketAddress from = end(call, "source", isIcmp);
            InetSocketAddress to = end(call, "destination", isIcmp);
            if (from.getAddress().getClass() != to.getAddress().getClass()) {
                throw new ApiException(
                        ApiException.BAD_REQUEST,
                        "from " + Addresses.host(from.getAddress()) + " to " + Addresses.host(to.getAddress())
                                + ": both must be of one family");
            }
            PlainMatch.Protocol protocol = named == null ? PlainMatch.Protocol.UDP : protocol(named);
            if (protocol == null) {
                return new Explained(null, false, "rules are for udp, tcp and icmp: " + named + " goes on", List.of());
            }
            InetAddress source = from.getAddress();
            InetAddress destination = to.getAddress();
            PlainFlow flow = new PlainFlow(
                    protocol,
                    Addresses.high(source),
                    Addresses.low(source),
                    Addresses.high(destination),
                    Addresses.low(destination),
                    to.getPort(),
                    isIcmp ? type(call, source instanceof Inet6Address) : null,
                    (int) call.number("dscp", 0, PlainMatch.MAX_DSCP, 0),
                    call.number("fwmark", 0, PlainMatch.MAX_MARK, 0),
                    call.number("router-alert", 0, 1, 0) == 1);
            return of(environment, flow, destination);
        }

        private static Explained of(ExecutionEnvironment environment, PlainFlow flow, InetAddress destination) {
            PlainTraffic plain = environment.plain();
            int rule = plain.rules().find(flow);
            List<String> lines = plain.rules().explain(flow);
            if (rule == PlainRules.NO_RULE) {
                return new Explained(null, false, "no rule is for it: it goes on", lines);
            }
            PlainTraffic.Status status = plain.status();
            String service = plain.rules().rules().get(rule).service();
            if (!status.isThere()) {
                return new Explained(rule + 1, false, "nothing comes up: " + status.detail(), lines);
            }
            if (environment.endsHere(destination)) {
                return new Explained(rule + 1, false, "it is addressed to this host, or to a link: it goes on", lines);
            }
            return new Explained(
                    rule + 1,
                    true,
                    "it goes up to " + service + ", if it comes in by " + status.detail()
                            + " with hops left, and is no fragment"
                            + (flow.protocol() == PlainMatch.Protocol.TCP
                                    ? "; if its connection begins now, and goes out by one of these interfaces too"
                                    : ""),
                    lines);
        }

        private static PlainMatch.@Nullable Protocol protocol(String name) {
            for (PlainMatch.Protocol each : PlainMatch.Protocol.values()) {
                if (each.word().equals(name)) {
                    return each;
                }
            }
            return null;
        }

        /** Returns the type of the message; null where it is one that no rule is for. */
        private static @Nullable IcmpType type(Call call, boolean isIpv6) throws ApiException {
            String named = Objects.requireNonNullElse(call.query("type"), IcmpType.ECHO_REQUEST.word());
            for (IcmpType each : IcmpType.values()) {
                if (each.word().equals(named)) {
                    return each;
                }
            }
            Matcher numbers = TYPE_AND_CODE.matcher(named);
            int type = numbers.matches() ? Integer.parseInt(numbers.group(1)) : MAX_OCTET + 1;
            int code = numbers.matches() && numbers.group(2) != null ? Integer.parseInt(numbers.group(2)) : 0;
            if (Math.max(type, code) > MAX_OCTET) {
                throw new ApiException(
                        ApiException.BAD_REQUEST,
                        "type: " + named + ": "
                                + Stream.of(IcmpType.values())
                                        .map(IcmpType::word)
                                        .collect(Collectors.joining(", "))
                                + " is wanted, or numbers, TYPE or TYPE/CODE");
            }
            return IcmpType.of(isIpv6, type, code);
        }

        private static InetSocketAddress end(Call call, String name, boolean isIcmp) throws ApiException {
            String text = call.query(name);
            String wanted = isIcmp ? "ADDRESS" : "ADDRESS:PORT";
            if (text == null) {
                throw new ApiException(ApiException.BAD_REQUEST, name + ": " + wanted + " is wanted");
            }
            try {
                Endpoint endpoint = isIcmp ? new Endpoint(text, Endpoint.NO_PORT) : Endpoint.parse(text, 1);
                if (!isIcmp && endpoint.port() == Endpoint.NO_PORT) {
                    throw new IllegalArgumentException("'" + text + "' has no port: ADDRESS:PORT is wanted");
                }
                Prefix address = Prefix.parse(endpoint.host()); // No name: nothing is looked up.
                return new InetSocketAddress(Addresses.of(address.high(), address.low()), Math.max(0, endpoint.port()));
            } catch (IllegalArgumentException e) {
                throw new ApiException(ApiException.BAD_REQUEST, name + ": " + e.getMessage());
            }
        }
    }
}
