package org.tamanoir.node.run;

import java.util.List;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.deploy.CodeRefusedException;
import org.tamanoir.deploy.Manifest;
import org.tamanoir.deploy.ServiceId;
import org.tamanoir.deploy.ServiceLimits;
import org.tamanoir.deploy.SigningKey;
import org.tamanoir.deploy.TrustPolicy;

/**
 * Checks a signature of its own once, in the background: the first one that a JVM checks takes a third of a second,
 * which the first stream that waits for code would feel.
 */
final class WarmUp implements Runnable {
    private static final Logger LOG = LoggerFactory.getLogger(WarmUp.class);

    @Override
    public void run() {
        SigningKey key = SigningKey.generate();
        Manifest manifest = new Manifest(
                new ServiceId("warm.Up", "1"), "warm.Up", "0".repeat(64), 1, List.of("jvm"), ServiceLimits.NONE, "");
        byte[] bytes = manifest.encode();
        TrustPolicy policy = new TrustPolicy(
                List.of(new TrustPolicy.Publisher(key.publisher(), List.of("warm.*"))), Set.of(), Set.of(), false);
        try {
            policy.verify(bytes, key.sign(bytes).encode());
        } catch (CodeRefusedException e) {
            LOG.error("this JVM's signatures do not hold: {}; no signed code can be deployed", e.getMessage());
        }
    }
}
