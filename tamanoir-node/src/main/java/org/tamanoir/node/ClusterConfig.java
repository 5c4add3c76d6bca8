package org.tamanoir.node;

import java.nio.file.Path;
import org.tamanoir.cluster.MembershipSettings;

/**
 * The cluster that a node is a back-end of.
 *
 * @param tokenFile where the token of registration is from
 * @param plain whether directors beyond loopback may be asked over http
 */
record ClusterConfig(MembershipSettings membership, Path tokenFile, boolean plain) {}
