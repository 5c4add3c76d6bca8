package org.tamanoir.manager;

import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.anep.ServiceKey;
import org.tamanoir.deploy.CodeRefusedException;
import org.tamanoir.deploy.CodeUnavailableException;
import org.tamanoir.deploy.ServicePackage;

/**
 * One deployment, from its begin to what came of it, which it counts and tells.
 *
 * <p>Thread contract: any thread, one at a time.
 */
final class Attempt {
    private static final Logger LOG = LoggerFactory.getLogger(Attempt.class);

    private final Deployer deployer;
    private final Outcomes outcomes;
    private final EventLog events;
    private final WantedServices wanted;
    private final long key;
    private final long beginNs = System.nanoTime();
    private String outcome = "unavailable";

    Attempt(Deployer deployer, Outcomes outcomes, EventLog events, WantedServices wanted, long key) {
        this.deployer = deployer;
        this.outcomes = outcomes;
        this.events = events;
        this.wanted = wanted;
        this.key = key;
        outcomes.begin();
    }

    /**
     * Installs code that was found.
     *
     * @param forStream whether nobody but a stream wants it
     */
    DeployedVersion succeeded(ServicePackage code, boolean forStream)
            throws CodeRefusedException, CodeUnavailableException {
        DeployedVersion service = deployer.install(key, code, forStream);
        wanted.deployed(service.id);
        outcome = Outcomes.ofSource(code.source());
        String ms = Long.toString(TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - beginNs));
        String signer = service.publisherId() == null ? "unsigned" : "signed by " + service.publisherId();
        deployer.tell(
                "deployed", service, "deployed from " + service.source() + " in " + ms + " ms, " + signer, "ms", ms);
        return service;
    }

    /** Tells why there is no code, or why it does not run. */
    void failed(Exception e) {
        outcome = Outcomes.ofFailure(e);
        String hex = ServiceKey.toString(key);
        String which = "service key " + hex + ": ";
        String message = String.valueOf(e.getMessage());
        String line = message.startsWith(which) ? message : which + message; // The fetcher says the key itself.
        LOG.warn("not deployed: {}", line);
        if (e instanceof CodeRefusedException) {
            wanted.refused(key, message);
        }
        events.add(
                e instanceof CodeRefusedException ? "code-refused" : "deployment-failed",
                line,
                Map.of("key", hex, "outcome", outcome));
    }

    /** Counts it; once, whatever came of it. */
    void end() {
        outcomes.end(outcome, System.nanoTime() - beginNs);
    }
}
