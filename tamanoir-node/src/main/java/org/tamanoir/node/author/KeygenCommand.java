package org.tamanoir.node.author;

import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import org.tamanoir.deploy.SigningKey;
import org.tamanoir.node.cli.CommandException;
import org.tamanoir.node.cli.ExitCode;
import org.tamanoir.node.cli.Output;
import org.tamanoir.node.cli.OutputFile;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code tamanoir keygen}. */
@Command(name = "keygen", mixinStandardHelpOptions = true, sortOptions = false)
public final class KeygenCommand implements Callable<Integer> {
    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private CommandSpec spec;

    @Parameters(paramLabel = "FILE", description = "Where the private key goes.")
    @SuppressWarnings("NullAway.Init")
    private Path file;

    @Option(names = "--json")
    private boolean json;

    /** Made by picocli. */
    KeygenCommand() {}

    @Override
    public Integer call() {
        SigningKey key = SigningKey.generate();
        try {
            key.write(OutputFile.requireFile(file, "FILE", "two files are written"));
        } catch (IllegalArgumentException e) {
            throw new CommandException(ExitCode.USAGE, e);
        } catch (IOException e) {
            throw new CommandException(ExitCode.FAILED, e);
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
        return ExitCode.OK;
    }
}
