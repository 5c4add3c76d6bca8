package org.tamanoir.node.author;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.tamanoir.deploy.CodeRefusedException;
import org.tamanoir.deploy.Manifest;
import org.tamanoir.deploy.ServiceId;
import org.tamanoir.deploy.TrustPolicy;
import org.tamanoir.node.cli.CommandException;
import org.tamanoir.node.cli.ExitCode;
import org.tamanoir.node.cli.Output;
import org.tamanoir.node.cli.RepositoryOptions;
import org.tamanoir.repository.Verifier;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code tamanoir verify}. */
@Command(name = "verify", mixinStandardHelpOptions = true, sortOptions = false)
public final class VerifyCommand implements Callable<Integer> {
    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private CommandSpec spec;

    @Parameters(paramLabel = "WHAT", description = "The jar, or NAME:VERSION in the repository.")
    @SuppressWarnings("NullAway.Init")
    private String what;

    @Option(names = "--publisher", paramLabel = "FILE[=PATTERN,...]", required = true)
    private List<String> publishers = new ArrayList<>();

    @Option(names = "--repository", paramLabel = "URL")
    private @Nullable String repository;

    @Option(names = "--ca", descriptionKey = "repository-ca", paramLabel = "FILE")
    private @Nullable Path authorities;

    @Option(names = "--json")
    private boolean json;

    /** Made by picocli. */
    VerifyCommand() {}

    @Override
    public Integer call() throws IOException {
        TrustPolicy policy = RepositoryOptions.trust(publishers);
        if (repository == null && !Files.isRegularFile(Path.of(what))) {
            throw new CommandException(
                    ExitCode.USAGE,
                    what + ": there is no such jar; for NAME:VERSION say where, with --repository",
                    null);
        }
        Output output =
                new Output(spec.commandLine().getOut(), spec.commandLine().getErr(), json, false);
        try {
            Verifier.Verified found = repository == null
                    ? Verifier.verify(Path.of(what), policy)
                    : Verifier.verify(
                            RepositoryOptions.uri(repository),
                            RepositoryOptions.tls(authorities),
                            ServiceId.parse(what),
                            policy);
            Manifest manifest = found.manifest();
            Map<String, Object> result = new LinkedHashMap<>();
            result.put("good", true);
            result.put("name", manifest.id().name());
            result.put("version", manifest.id().version());
            result.put("mainClass", manifest.mainClass());
            result.put("bytes", manifest.jarBytes());
            result.put("sha256", manifest.jarSha256());
            result.put("publisher", found.publisher());
            output.json(result);
            output.line("good: " + manifest.id() + ", " + manifest.jarBytes() + " bytes, signed by key "
                    + found.publisher());
            return ExitCode.OK;
        } catch (CodeRefusedException e) {
            Map<String, Object> result = new LinkedHashMap<>();
            result.put("good", false);
            result.put("refusal", e.refusal().name());
            result.put("line", String.valueOf(e.getMessage()));
            output.json(result);
            throw new CommandException(ExitCode.FAILED, e.refusal() + ": " + e.getMessage(), e);
        } catch (IllegalArgumentException e) {
            throw new CommandException(ExitCode.USAGE, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return ExitCode.FAILED;
        }
    }
}
