package org.tamanoir.ee;

import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.function.Supplier;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.service.FailurePolicy;
import org.tamanoir.service.Service;
import org.tamanoir.service.ServiceConfig;
import org.tamanoir.service.Verdict;
import org.tamanoir.support.Waiting;

/** Services and packets that tests of nodes share. */
public final class TestServices {
    /** Nothing in a test takes this long unless it hangs. */
    static final Duration PATIENCE = Waiting.PATIENCE;

    /** Marks each packet in place. */
    public static final ServiceDefinition MARK = define("mark", () -> new Service() {
        @Override
        public Verdict process(Packet packet) {
            packet.setClassOfService(packet.classOfService() + 1);
            counter("marked").add(1);
            return Verdict.FORWARD;
        }
    });

    /** Sends each packet back. */
    static final ServiceDefinition ECHO = define("echo", () -> new Service() {
        @Override
        public Verdict process(Packet packet) {
            return Verdict.REPLY;
        }
    });

    private TestServices() {}

    static ServiceDefinition define(String name, Supplier<? extends Service> factory) {
        return define(name, FailurePolicy.DROP, factory);
    }

    static ServiceDefinition define(String name, FailurePolicy policy, Supplier<? extends Service> factory) {
        return new ServiceDefinition(name, factory, ServiceConfig.EMPTY, policy);
    }

    /** Packets for a service, with all options that a node changes in place. */
    static PacketBuilder packets(String service) {
        return anonymous().service(service).stream(7);
    }

    /** Packets that ask for no service. */
    static PacketBuilder anonymous() {
        return new PacketBuilder()
                .source(InetAddress.getLoopbackAddress())
                .destination(InetAddress.getLoopbackAddress())
                .classOfService(0, 0)
                .hopBudget(16);
    }

    /** A payload that tells its number and its bytes' places. */
    static ByteBuffer payload(int number, int bytes) {
        ByteBuffer payload = ByteBuffer.allocate(bytes);
        for (int i = 0; i < bytes; i++) {
            payload.put(i, (byte) (number * 31 + i ^ i >>> 8));
        }
        return payload;
    }

    /** A payload of 4 bytes. */
    static ByteBuffer number(int number) {
        return ByteBuffer.allocate(4).putInt(0, number);
    }
}
