package org.tamanoir.node.admin;

import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.ServiceKey;
import org.tamanoir.catalog.Placement;
import org.tamanoir.node.config.Endpoint;
import org.tamanoir.nodeos.Fate;
import org.tamanoir.nodeos.Flow;
import org.tamanoir.nodeos.LevelCounters;
import org.tamanoir.nodeos.LevelStatus;
import org.tamanoir.nodeos.Mark;
import org.tamanoir.nodeos.NodeOs;
import org.tamanoir.nodeos.Offload;
import org.tamanoir.nodeos.Policy;
import org.tamanoir.nodeos.Rule;
import org.tamanoir.nodeos.Share;
import org.tamanoir.routing.Addresses;

/** What the API shows of levels below the JVM, as openapi.yaml describes it. Any thread may call. */
final class LevelViews {
    private LevelViews() {}

    /** Levels, and policies at work on them. */
    record Levels(List<OneLevel> levels, List<OneOffload> offloads, int total) {
        static Levels of(NodeOs levels, int limit) {
            List<Offload> offloads = levels.offloads();
            return new Levels(
                    levels.levels().stream().map(OneLevel::of).toList(),
                    offloads.stream().limit(limit).map(OneOffload::of).toList(),
                    offloads.size());
        }
    }

    /** One level. */
    record OneLevel(String level, boolean there, String detail, Map<String, Long> met) {
        static OneLevel of(LevelStatus status) {
            return new OneLevel(status.level().label(), status.isThere(), status.detail(), status.met());
        }
    }

    /** One policy at work. */
    record OneOffload(
            String serviceKey,
            String level,
            String protocol,
            @Nullable String source,
            @Nullable String destination,
            @Nullable Long stream,
            OnePolicy policy,
            Below counters) {
        static OneOffload of(Offload offload) {
            Flow flow = offload.flow();
            return new OneOffload(
                    ServiceKey.toString(offload.serviceKey()),
                    offload.level().label(),
                    Views.word(flow.protocol()),
                    address(flow.source()),
                    address(flow.destination()),
                    flow.stream(),
                    OnePolicy.of(offload.policy()),
                    Below.of(offload.counters()));
        }
    }

    /** A policy in words. */
    record OnePolicy(String share, String mark, List<String> rules, String otherwise, String fate) {
        static OnePolicy of(Policy policy) {
            return new OnePolicy(
                    share(policy.share()),
                    mark(policy.mark()),
                    policy.rules().stream().map(OnePolicy::rule).toList(),
                    policy.otherwiseDrops() ? "drop" : "pass",
                    fate(policy.fate()));
        }

        private static String share(Share share) {
            String kind = Views.word(share.kind());
            return share.number() == 0 ? kind : kind + " " + share.number();
        }

        private static String mark(Mark mark) {
            if (mark instanceof Mark.ClassOfService value) {
                return "class " + value.value();
            }
            if (mark instanceof Mark.At at) {
                return "bytes " + at.bytes() + " at " + at.offset() + ": " + at.value();
            }
            return "none";
        }

        private static String rule(Rule rule) {
            String subject = (rule.drops() ? "drop " : "pass ") + Views.word(rule.subject());
            InetAddress address = rule.address();
            if (address != null) {
                return subject + " " + Addresses.host(address) + "/" + rule.prefixBits();
            }
            return switch (rule.subject()) {
                case CLASS, STREAM, SIZE -> subject + " " + sign(rule.comparison()) + " " + rule.number();
                default -> subject;
            };
        }

        private static String sign(Rule.Comparison comparison) {
            return switch (comparison) {
                case EQUAL -> "=";
                case BELOW -> "<";
                case ABOVE -> ">";
            };
        }

        private static String fate(Fate fate) {
            if (fate instanceof Fate.To to) {
                return "to " + Endpoint.toString(to.address());
            }
            if (fate instanceof Fate.Redirect redirect) {
                return "redirect " + redirect.networkInterface();
            }
            return fate instanceof Fate.Drop ? "drop" : "on";
        }
    }

    /** What levels did: {@code packets = up + on + dropped}. Bytes and all behind them count what did not go up. */
    record Below(
            long packets,
            long up,
            long on,
            long dropped,
            long bytes,
            long marked,
            long unmarked,
            List<Long> ruleDrops) {
        static Below of(LevelCounters counters) {
            List<Long> ruleDrops = new ArrayList<>();
            for (long drops : counters.ruleDrops()) {
                ruleDrops.add(drops);
            }
            return new Below(
                    counters.packets(),
                    counters.up(),
                    counters.on(),
                    counters.dropped(),
                    counters.bytes(),
                    counters.marked(),
                    counters.unmarked(),
                    ruleDrops);
        }
    }

    /** Where a service is handled. */
    record Placed(
            String wanted,
            String level,
            @Nullable String reason,
            @Nullable String refusal,
            Below counters) {
        static Placed of(Placement.Status status, LevelCounters below) {
            return new Placed(
                    status.wanted(), status.actual().label(), status.reason(), status.refusal(), Below.of(below));
        }
    }

    private static @Nullable String address(@Nullable InetAddress address) {
        return address == null ? null : Addresses.host(address);
    }
}
