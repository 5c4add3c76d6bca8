package org.tamanoir.node;

import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import org.tamanoir.deploy.SigningKey;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code tamanoir keygen}. */
@Command(
        name = "keygen",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Make a key pair (Ed25519) for signing services.",
            "FILE is the private key, readable by its owner alone: who has it can publish in your name. FILE.pub is "
                    + "for those who run nodes: it goes into their configuration under deploy.trust. Neither is "
                    + "overwritten."
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {"0:both files are there", "1:they cannot be written", "2:wrong usage"})
final class KeygenCommand implements Callable<Integer> {
    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private CommandSpec spec;

    @Parameters(paramLabel = "FILE", description = "Where the private key goes.")
    @SuppressWarnings("NullAway.Init")
    private Path file;

    @Option(names = "--json", description = "Print the result as one JSON object.")
    private boolean json;

    /** Made by picocli. */
    KeygenCommand() {}

    @Override
    public Integer call() {
        SigningKey key = SigningKey.generate();
        try {
            key.write(file);
        } catch (IOException e) {
            throw new CommandException(Main.FAILED, e);
        }
        Output output =
                new Output(spec.commandLine().getOut(), spec.commandLine().getErr(), json, false);
        Map<String, String> result = new LinkedHashMap<>();
        result.put("keyId", key.publisher().id());
        result.put("privateKey", file.toString());
        result.put("publicKey", file + ".pub");
        output.json(result);
        output.line("key " + key.publisher().id() + ": " + file + " (private: keep it) and " + file
                + ".pub (public: give it to who runs nodes)");
        return Main.OK;
    }
}
