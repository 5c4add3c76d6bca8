package org.tamanoir.node.admin;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.tamanoir.anep.Packet;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.service.FailurePolicy;
import org.tamanoir.service.Service;
import org.tamanoir.service.ServiceConfig;
import org.tamanoir.service.Verdict;

class LiveViewsTest {
    private static final class Nothing extends Service {
        @Override
        public Verdict process(Packet packet) {
            return Verdict.FORWARD;
        }
    }

    private static ServiceDefinition service(int number) {
        return new ServiceDefinition("S" + number, Nothing::new, ServiceConfig.EMPTY, FailurePolicy.DROP);
    }

    @Test
    void theBusiestAreSortedByWhatTheyHadUsedWhenTheyWereLookedAt() {
        List<ServiceDefinition> services =
                IntStream.range(100, 200).mapToObj(LiveViewsTest::service).toList();
        AtomicLong reads = new AtomicLong(); // Each read gives more than the one before, as processor time does.
        List<ServiceDefinition> most = LiveViews.Live.mostOf(services, each -> reads.incrementAndGet());
        assertThat(reads).hasValue(100);
        assertThat(most)
                .extracting(ServiceDefinition::name)
                .containsExactlyElementsOf(
                        IntStream.range(0, 12).mapToObj(i -> "S" + (199 - i)).toList());
    }

    @Test
    void servicesThatHaveUsedTheSameStandInTheOrderOfTheirNames() {
        List<ServiceDefinition> services = List.of(service(3), service(1), service(2));
        assertThat(LiveViews.Live.mostOf(services, each -> 0))
                .extracting(ServiceDefinition::name)
                .containsExactly("S1", "S2", "S3");
    }
}
