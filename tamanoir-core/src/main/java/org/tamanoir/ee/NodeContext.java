package org.tamanoir.ee;

import org.tamanoir.auth.Authentication;
import org.tamanoir.catalog.ServiceCatalog;
import org.tamanoir.offload.Levels;
import org.tamanoir.platform.Platform;
import org.tamanoir.sched.QualityOfService;
import org.tamanoir.supervision.CoreThreads;
import org.tamanoir.supervision.FailureLog;
import org.tamanoir.supervision.Incidents;
import org.tamanoir.tls.TlsClient;
import org.tamanoir.trace.Traces;
import org.tamanoir.traffic.Tap;
import org.tamanoir.transport.BufferPool;
import org.tamanoir.transport.IoLoop;
import org.tamanoir.transport.Transport;
import org.tamanoir.transport.UdpEgressSockets;

/**
 * What every instance of an environment works with. Nothing of it leads back to instances, or to those who begin them.
 *
 * <p>Thread contract: any thread.
 *
 * @param threads the node's own
 * @param failures the log of what services threw
 * @param incidents the account of what services do wrong
 * @param levels below the JVM
 * @param egress sockets that datagrams leave through
 * @param tls what connections to TLS next hops begin with
 * @param formats where formats of records come from
 * @param traces packets whose way is taken down
 * @param sapf which connections carry SAPF
 * @param authentication which packets are checked and signed
 */
record NodeContext(
        EeConfig config,
        Platform platform,
        Transport transport,
        BufferPool pool,
        ServiceCatalog services,
        NextHopResolver forwarder,
        QualityOfService qualityOfService,
        Tap tap,
        CoreThreads threads,
        FailureLog failures,
        Incidents incidents,
        Levels levels,
        UdpEgressSockets egress,
        TlsClient tls,
        NodeFormats formats,
        Traces traces,
        StreamSapf sapf,
        Authentication authentication) {

    /** Makes a loop that no thread owns yet. */
    IoLoop newLoop() {
        return transport.newLoop(pool);
    }

    /** Makes one likewise for a virtual thread. */
    IoLoop newParkingLoop() {
        return transport.newParkingLoop(pool);
    }
}
