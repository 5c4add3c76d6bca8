package org.tamanoir.services;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ServiceLoader;
import org.junit.jupiter.api.Test;
import org.tamanoir.service.Service;

class ServicesListTest {
    @Test
    void theServiceLoaderFindsEveryService() {
        assertThat(ServiceLoader.load(Service.class).stream().map(ServiceLoader.Provider::type))
                .containsExactlyInAnyOrder(
                        Echo.class, Filter.class, Gunzip.class, Gzip.class, Impair.class, Monitor.class, Reflect.class);
    }
}
