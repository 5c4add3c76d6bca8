package org.tamanoir.ee;

import static org.tamanoir.support.Waiting.eventually;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.ServiceKey;
import org.tamanoir.catalog.Origin;
import org.tamanoir.catalog.ServiceCatalog;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.catalog.ServiceSource;

/** A source that answers when a test says so, on the test's thread. Any thread may ask. */
final class TestSource implements ServiceSource {
    /** What was asked, and the way to answer it. */
    record Request(long key, Origin origin, Consumer<Answer> then) {}

    private final List<Request> requests = new CopyOnWriteArrayList<>();

    @Override
    public Fetch fetch(long key, Consumer<Answer> then) {
        return origin -> requests.add(new Request(key, origin, then));
    }

    List<Request> requests() {
        return requests;
    }

    /** The only request for this service, when it comes. */
    Request awaitRequest(String service) {
        eventually().until(() -> requests.stream().anyMatch(r -> r.key == ServiceKey.of(service)));
        return requests.stream()
                .filter(r -> r.key == ServiceKey.of(service))
                .findFirst()
                .orElseThrow();
    }

    /** Puts a service into the catalog and says so. */
    void answer(ServiceCatalog catalog, ServiceDefinition definition) {
        Request request = awaitRequest(definition.name());
        catalog.add(definition);
        request.then.accept(Answer.of(definition));
    }

    /** Says that there is none. */
    void refuse(String service, DropReason reason) {
        awaitRequest(service).then.accept(Answer.refused(reason));
    }
}
