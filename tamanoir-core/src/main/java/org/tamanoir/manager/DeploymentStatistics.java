package org.tamanoir.manager;

import java.util.Map;

/**
 * Deployments since the start.
 *
 * @param outcomes how many by outcome: {@code cache}, {@code repository}, {@code previous-node}, {@code unknown},
 *     {@code unavailable}, or a {@link org.tamanoir.deploy.Refusal} in lower case with hyphens
 * @param seconds total duration by outcome
 * @param running now
 * @param streamsHeld TCP streams and UDP packets that wait for one now
 */
public record DeploymentStatistics(
        Map<String, Long> outcomes, Map<String, Double> seconds, int running, long streamsHeld) {}
