package org.tamanoir.gateway.udp;

import java.net.InetSocketAddress;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.tamanoir.platform.Platform;
import org.tamanoir.supervision.CoreThreads;
import org.tamanoir.traffic.Tap;
import org.tamanoir.transport.IoLoop;
import org.tamanoir.transport.Transport;

/**
 * What gateways need of their node.
 *
 * @param loops makes one for each thread
 * @param isOwn whether the node itself receives there by UDP
 */
public record GatewayHost(
        Platform platform,
        Tap tap,
        Transport transport,
        Supplier<IoLoop> loops,
        CoreThreads threads,
        Predicate<InetSocketAddress> isOwn) {}
