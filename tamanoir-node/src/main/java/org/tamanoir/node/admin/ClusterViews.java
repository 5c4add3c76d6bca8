package org.tamanoir.node.admin;

import org.jspecify.annotations.Nullable;
import org.tamanoir.cluster.MembershipStatus;

/** What the API shows of the cluster that the node is a back-end of. Any thread may call. */
final class ClusterViews {
    private ClusterViews() {}

    static MembershipStatus of(@Nullable MembershipStatus status) throws ApiException {
        if (status == null) {
            throw new ApiException(
                    ApiException.NOT_FOUND,
                    "this node is no back-end of a cluster: start it with --cluster URL --cluster-token-file FILE");
        }
        return status;
    }
}
