package org.tamanoir.node.config;

import org.tamanoir.cluster.element.FctSettings;
import org.tamanoir.cluster.element.ring.RingSettings;

/**
 * The node's part in a distributed element.
 *
 * @param sender how it handles the token; which unit it is
 * @param ring where the token goes
 * @param group whether a JGroups group decides too who is in the ring
 */
public record ElementConfig(FctSettings sender, RingSettings ring, boolean group) {}
