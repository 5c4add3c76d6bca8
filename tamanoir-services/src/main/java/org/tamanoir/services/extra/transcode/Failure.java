package org.tamanoir.services.extra.transcode;

/** What becomes of packets that cannot be transcoded. */
enum Failure {
    /** They end, counted by the reason. */
    DROP,
    /** They go on as they came. */
    PASS
}
