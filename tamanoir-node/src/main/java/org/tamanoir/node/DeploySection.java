package org.tamanoir.node;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.function.Function;
import org.tamanoir.deploy.TrustPolicy;

/** Reads the section {@code deploy} of a configuration file. */
final class DeploySection {
    /** What other nodes are asked for code at, when a neighbour's address has no port. */
    static final int CODE_SERVER_PORT = 3323;

    private static final long MIB = 1 << 20;
    private static final Duration MIN_TIME = Duration.ofMillis(1);
    private static final Duration MAX_TIME = Duration.ofHours(1);

    private DeploySection() {}

    /** Puts what the section says over the settings. */
    static void read(Section deploy, DeploySettings settings) {
        deploy.allow(
                "on-demand",
                "repositories",
                "cache",
                "cache-size",
                "neighbours",
                "trust",
                "revoked",
                "allow-unsigned",
                "max-jar",
                "max-unpacked",
                "connect-timeout",
                "idle-timeout",
                "total-timeout",
                "back-off",
                "max-back-off",
                "code-server",
                "tls");
        settings.onDemand = deploy.value("on-demand", settings.onDemand, Choice::flag);
        settings.repositories = deploy.values("repositories", DeploySettings::repository);
        settings.cache = deploy.value("cache", Path::of);
        settings.cacheOctets = deploy.value("cache-size", settings.cacheOctets, octets(MIB, 1L << 40));
        settings.neighbours = deploy.values("neighbours", text -> Endpoint.listening(text, CODE_SERVER_PORT));
        settings.allowUnsigned = deploy.value("allow-unsigned", settings.allowUnsigned, Choice::flag);
        deploy.sections("trust").forEach(publisher -> trust(publisher, settings));
        settings.revoked.addAll(deploy.values("revoked", text -> {
            TrustPolicy.NOBODY.revoking(text);
            return text;
        }));
        settings.maxJarOctets = deploy.value("max-jar", settings.maxJarOctets, octets(1 << 10, 1L << 30));
        settings.maxUnpackedOctets =
                deploy.value("max-unpacked", settings.maxUnpackedOctets, octets(1 << 10, 1L << 34));
        settings.connectTimeout = deploy.value("connect-timeout", settings.connectTimeout, duration());
        settings.idleTimeout = deploy.value("idle-timeout", settings.idleTimeout, duration());
        settings.totalTimeout = deploy.value("total-timeout", settings.totalTimeout, duration());
        settings.backOffMin = deploy.value("back-off", settings.backOffMin, duration());
        settings.backOffMax = deploy.value("max-back-off", settings.backOffMax, duration());
        settings.tls = deploy.value("tls", settings.tls, Choice::flag);
        deploy.value("code-server", text -> {
            settings.serve = !text.equals("off");
            settings.codeServer = settings.serve ? Endpoint.listening(text, CODE_SERVER_PORT) : null;
            return text;
        });
    }

    private static void trust(Section publisher, DeploySettings settings) {
        publisher.allow("key", "names");
        List<String> names = publisher.values("names", Function.identity());
        publisher.required("key", "publisher.pub", file -> {
            settings.trust(Path.of(file), names);
            return file;
        });
    }

    private static Function<String, Long> octets(long min, long max) {
        return text -> Quantity.octets(text, min, max);
    }

    private static Function<String, Duration> duration() {
        return text -> Quantity.duration(text, MIN_TIME, MAX_TIME);
    }
}
