package org.tamanoir.ee;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.tamanoir.catalog.ServiceCatalog;
import org.tamanoir.platform.ThreadKind;
import org.tamanoir.platform.VirtualThreads;
import org.tamanoir.routing.RoutingTable;
import org.tamanoir.transport.BufferPool;
import org.tamanoir.transport.Transport;
import org.tamanoir.transport.TransportKind;

/** Where virtual threads cannot be had. */
class ThreadKindTest {
    private static final boolean ARE_THERE = Runtime.version().feature() >= 21;

    @Test
    void virtualThreadsAreThereFromJava21On() {
        assertThat(VirtualThreads.whyNot().isEmpty()).isEqualTo(ARE_THERE);
    }

    @Test
    void aNodeThatCannotHaveThemSaysSoInOneLineAndDoesNotStart() {
        EeConfig config = EeConfig.defaults()
                .listening(List.of(new InetSocketAddress("127.0.0.1", 0)), List.of())
                .running(ThreadKind.VIRTUAL);
        ExecutionEnvironment environment = new ExecutionEnvironment(
                config,
                new RoutingTable(),
                new ServiceCatalog(),
                new BufferPool(1),
                org.tamanoir.platform.Platform.SYSTEM,
                Transport.of(TransportKind.NIO));
        assertThatThrownBy(environment::start)
                .isInstanceOf(IOException.class)
                .hasMessageContaining(ARE_THERE ? "need the native transport" : "has no virtual threads")
                .hasMessageEndingWith("leave threads at 'platform'")
                .message()
                .doesNotContain("\n");
        assertThat(environment.tcpAddresses()).isEmpty();
    }
}
