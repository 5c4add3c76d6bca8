package org.tamanoir.node.config;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.tamanoir.support.SecretFile;

/** Tokens of a configuration: nobody must have another right by one, and each change is of somebody. */
class AdminConfigTest {
    @TempDir
    Path folder;

    private String admin;
    private String application;

    @BeforeEach
    void write() throws IOException {
        admin = token("admin", "0123456789abcdef-admin");
        application = token("app.token", "0123456789abcdef-application");
    }

    private String token(String name, String token) throws IOException {
        Path file = folder.resolve(name);
        Files.createDirectories(file.getParent());
        return SecretFile.write(file, token).toString();
    }

    private static List<String> problems(String section) {
        Problems problems = new Problems();
        NodeConfigBuilder read = new NodeConfigBuilder(problems);
        ConfigFile.parse("f", "admin: {" + section + "}\n", read);
        read.check();
        return problems.lines();
    }

    private String control(String... rights) {
        return "token-file: " + admin + ", control: ['" + String.join("', '", rights) + "']";
    }

    @Test
    void tokensOfApplicationsHaveNamesThatNoOperatorHas() throws IOException {
        String likeTheAdmin = token("other/admin", "0123456789abcdef-other");
        assertThat(problems(control(application + "=Monitor,Echo", likeTheAdmin + "=Monitor")))
                .isEmpty();
        assertThat(AdminConfig.ControlRight.of(likeTheAdmin + "=Monitor").name())
                .isEqualTo("control:admin");
    }

    @Test
    void aTokenOfAnApplicationMustNotBeAnotherOne() throws IOException {
        String same = token("same.token", "0123456789abcdef-admin");
        assertThat(problems(control(same + "=Monitor")))
                .singleElement()
                .asString()
                .startsWith("f:1: admin.control: ")
                .contains(
                        "admin.control " + same + " holds the same token as admin.token-file", "openssl rand -hex 32");
    }

    @Test
    void noTokenHasTheNameThatEventsHaveForNone() {
        for (String name : List.of("admin", "read", "none")) {
            assertThat(problems("tokens: ['" + name + "=" + application + "']"))
                    .singleElement()
                    .asString()
                    .startsWith("f:1: admin.tokens: the name " + name + " is in use already")
                    .contains("other than 'admin', 'read' and 'none'");
        }
    }

    @Test
    void aNameOfATokenStandsOnce() throws IOException {
        String other = token("other/app.token", "0123456789abcdef-other");
        for (String second : List.of(other, application)) {
            assertThat(problems(control(application + "=Monitor", second + "=Echo")))
                    .singleElement()
                    .asString()
                    .contains("the name control:app.token is in use already");
        }
    }
}
