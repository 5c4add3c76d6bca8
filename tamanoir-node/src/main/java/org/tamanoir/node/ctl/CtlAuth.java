package org.tamanoir.node.ctl;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.tamanoir.auth.AuthKey;
import org.tamanoir.node.cli.CommandException;
import org.tamanoir.node.cli.ExitCode;
import org.tamanoir.node.cli.Version;
import org.tamanoir.node.config.KeyFile;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;
import tools.jackson.databind.JsonNode;

/** {@code tamanoir ctl auth}: the keys by which a running node authenticates packets. */
@Command(name = "auth", mixinStandardHelpOptions = true, versionProvider = Version.class)
final class CtlAuth implements Runnable {
    private static final String PATH = "/v1/authentication";

    @ParentCommand
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private CtlCommand ctl;

    /** Made by picocli. */
    CtlAuth() {}

    @Override
    public void run() {
        ctl.show(PATH, CtlAuth::print);
    }

    @Command(mixinStandardHelpOptions = true, versionProvider = Version.class)
    void list() {
        run();
    }

    @Command(mixinStandardHelpOptions = true, versionProvider = Version.class)
    void add(
            @Parameters(
                            paramLabel = "FILE",
                            description = "A key a line, its number and its secret in hexadecimal digits, as in the"
                                    + " node's authentication.keys.")
                    Path file) {
        Map<Integer, String> secrets;
        try {
            secrets = KeyFile.secrets(file);
        } catch (IllegalArgumentException e) {
            throw new CommandException(ExitCode.USAGE, e);
        }
        secrets.forEach((id, secret) -> ctl.change(
                "PUT",
                path(AuthKey.text(id)),
                Map.of("secret", secret),
                (answer, lines) -> lines.accept("key " + AuthKey.text(id) + " added")));
    }

    @Command(mixinStandardHelpOptions = true, versionProvider = Version.class)
    void remove(
            @Parameters(arity = "1..*", paramLabel = "KEY", description = "Its number, 1 to 4294967295.")
                    List<String> keys) {
        for (String key : keys) {
            ctl.change("DELETE", path(key), null, (answer, lines) -> lines.accept("key " + key + " removed"));
        }
    }

    private static String path(String key) {
        return PATH + "/keys/" + CtlCommand.encoded(key);
    }

    private static void print(JsonNode status, Consumer<String> lines) {
        lines.accept("checked from  " + CtlTables.join(status.get("from")));
        lines.accept("checked to    " + CtlTables.join(status.get("to")));
        lines.accept("signed        " + CtlTables.join(status.get("sign")));
        JsonTable.print(
                status.get("keys"),
                lines,
                JsonTable.number("KEY", "id"),
                JsonTable.number("BYTES", "bytes"),
                JsonTable.text("SOURCE", "source"),
                JsonTable.text("SIGNS", "signs"),
                JsonTable.number("STREAMS", "streams"),
                JsonTable.number("FORGOTTEN", "forgotten"));
    }
}
