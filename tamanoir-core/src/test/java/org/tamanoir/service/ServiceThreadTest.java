package org.tamanoir.service;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.tamanoir.anep.Packet;
import org.tamanoir.platform.VirtualThreads;

/** What a service cannot change of the thread that it is. */
class ServiceThreadTest {
    /** The node calls neither; the second is gone since Java 21. */
    private static final List<String> UNUSED = List.of("clone", "countStackFrames");

    @Test
    void noServiceOverridesAMethodThatTheNodeCallsOnItsThread() {
        List<String> open = Arrays.stream(Thread.class.getDeclaredMethods())
                .filter(ServiceThreadTest::isOpen)
                .filter(method -> !UNUSED.contains(method.getName()))
                .filter(method -> !isFinalInService(method))
                .map(Method::toString)
                .toList();
        assertThat(open).isEmpty();
        assertThat(Arrays.stream(Service.class.getDeclaredMethods())
                        .filter(method -> Modifier.isFinal(method.getModifiers()))
                        .map(Method::getName))
                .contains("equals", "hashCode", "finalize");
    }

    private static boolean isOpen(Method method) {
        int modifiers = method.getModifiers();
        return (Modifier.isPublic(modifiers) || Modifier.isProtected(modifiers))
                && !Modifier.isStatic(modifiers)
                && !Modifier.isFinal(modifiers);
    }

    private static boolean isFinalInService(Method method) {
        try {
            Method own = Service.class.getDeclaredMethod(method.getName(), method.getParameterTypes());
            return Modifier.isFinal(own.getModifiers());
        } catch (NoSuchMethodException e) {
            return false;
        }
    }

    private static Service service() {
        return new Service() {
            @Override
            public Verdict process(Packet packet) {
                return Verdict.DROP;
            }
        };
    }

    @Test
    void noneRunsOnAThreadOfTheOperatingSystemThatIsNotItself() {
        Service service = service();
        assertThatThrownBy(() -> service.runOn(new Thread()))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("takes a virtual thread");
        assertThat(service.thread()).isSameAs(service);
    }

    @Test
    void noneRunsOnASecondVirtualThread() {
        Service service = service();
        Thread first = virtual(service);
        service.runOn(first);
        assertThatThrownBy(() -> service.runOn(virtual(service))).isInstanceOf(IllegalStateException.class);
        assertThat(service.thread()).isSameAs(first);
    }

    @Test
    void noneThatHasBegunRunsOnAVirtualThread() {
        Service service = service();
        Thread virtual = virtual(service);
        service.setDaemon(true);
        service.start();
        try {
            assertThatThrownBy(() -> service.runOn(virtual)).isInstanceOf(IllegalStateException.class);
        } finally {
            service.dismiss();
        }
    }

    private static Thread virtual(Service service) {
        assumeThat(VirtualThreads.whyNot()).isEmpty();
        return VirtualThreads.newThread("virtual", service);
    }

    @Test
    void theThreadOfOneThatIsDismissedEnds() throws Exception {
        Service service = service();
        service.start();
        service.dismiss();
        service.join(40_000);
        assertThat(service.isAlive()).isFalse();
    }

    @Test
    void aSecondHostIsRefused() {
        Service service = service();
        ServiceHost host = (ServiceHost) Proxy.newProxyInstance(
                ServiceHost.class.getClassLoader(),
                new Class<?>[] {ServiceHost.class},
                (proxy, method, arguments) -> null);
        service.attach(host);
        assertThatThrownBy(() -> service.attach(host)).hasMessageContaining("make an instance for each stream");
    }
}
