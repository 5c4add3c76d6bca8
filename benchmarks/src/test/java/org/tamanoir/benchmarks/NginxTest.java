package org.tamanoir.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class NginxTest {
    private static final String OTHERS =
            "configure arguments: --with-cc-opt='-g -O2' --with-stream_ssl_module --with-stream_realip_module";

    @TempDir
    Path folder;

    private String dynamic() {
        return OTHERS + " --modules-path=" + folder + " --with-stream=dynamic";
    }

    @Test
    void optionsOfTheStreamModuleAreNotTheModule() {
        assertThat(Nginx.streamModule(OTHERS)).isNull();
    }

    @Test
    void moduleThatIsBuiltInNeedsNoLine() {
        assertThat(Nginx.streamModule(OTHERS + " --with-stream")).isEmpty();
    }

    @Test
    void moduleInAFileIsLoadedFromWhereNginxLooksForIt() throws Exception {
        Path file = Files.createFile(folder.resolve("ngx_stream_module.so"));
        assertThat(Nginx.streamModule(dynamic())).isEqualTo("load_module " + file + ";\n");
    }

    @Test
    void moduleWhoseFileIsNotInstalledIsNone() {
        assertThat(Nginx.streamModule(dynamic())).isNull();
    }
}
