package org.tamanoir.node.config;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.node.Announced;
import org.tamanoir.service.Service;
import org.tamanoir.support.Waiting;

class ServiceClassesTest {
    @TempDir
    Path folder;

    @Test
    void eachStreamGetsAnInstanceOfItsOwn() {
        Map<String, ServiceDefinition> services = ServiceClasses.discover(new Problems());
        ServiceDefinition announced = Objects.requireNonNull(services.get(Announced.class.getName()));
        assertThat(announced.factory().get())
                .isInstanceOf(Announced.class)
                .isNotSameAs(announced.factory().get());
    }

    @Test
    void aThreadWithoutALoaderOfItsOwnAsAForSignalsFindsClasses() throws Exception {
        FutureTask<Boolean> finds = new FutureTask<>(() -> ServiceClasses.exists(Announced.class.getName())
                && !ServiceClasses.exists("org.example.Gone")
                && ServiceClasses.makers(Announced.class.getName()) != null);
        Thread thread = new Thread(finds, "signal");
        thread.setContextClassLoader(null);
        thread.start();
        assertThat(finds.get(Waiting.PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "org.example.Gone",
                "org.tamanoir.node.config.ServiceClassesTest",
                "org.tamanoir.node.Unannounced$Hidden",
                "two words"
            })
    void aJarThatAnnouncesWhatIsNoServiceIsAnError(String name) throws IOException {
        Path announcement = folder.resolve("META-INF/services").resolve(Service.class.getName());
        Files.createDirectories(announcement.getParent());
        Files.writeString(announcement, name + "\n");
        Problems problems = new Problems();

        Thread thread = Thread.currentThread();
        ClassLoader before = thread.getContextClassLoader();
        try (URLClassLoader loader =
                new URLClassLoader(new URL[] {folder.toUri().toURL()}, before)) {
            thread.setContextClassLoader(loader);
            ServiceClasses.discover(problems);
        } finally {
            thread.setContextClassLoader(before);
        }

        assertThat(problems.lines()).hasSize(1);
        assertThat(problems.lines().get(0)).startsWith("class path: ").contains("; correct META-INF/services");
    }
}
