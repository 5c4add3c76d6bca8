package org.tamanoir.node.author;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.ServiceKey;
import org.tamanoir.deploy.CodeRefusedException;
import org.tamanoir.deploy.Manifest;
import org.tamanoir.deploy.ServiceId;
import org.tamanoir.deploy.ServiceLimits;
import org.tamanoir.deploy.SigningKey;
import org.tamanoir.node.cli.CommandException;
import org.tamanoir.node.cli.ExitCode;
import org.tamanoir.node.cli.Output;
import org.tamanoir.node.cli.RepositoryOptions;
import org.tamanoir.node.config.Choice;
import org.tamanoir.node.config.Quantity;
import org.tamanoir.repository.Publisher;
import org.tamanoir.repository.RepositoryTree;
import org.tamanoir.repository.Token;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code tamanoir publish}: signs a service and brings it to a repository, or yanks one. */
@Command(name = "publish", sortOptions = false)
public final class PublishCommand implements Callable<Integer> {
    private static final long MAX_UNPACKED_BYTES = 256L << 20;

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private CommandSpec spec;

    @Parameters(arity = "0..1", paramLabel = "JAR", description = "The jar with the service.")
    private @Nullable Path jar;

    @Option(names = "--repository", paramLabel = "URL")
    private @Nullable String repository;

    @Option(names = "--key", paramLabel = "FILE")
    private @Nullable Path keyFile;

    @Option(names = "--token-file", paramLabel = "FILE")
    private @Nullable Path tokenFile;

    @Option(names = "--class", paramLabel = "CLASS")
    private @Nullable String mainClass;

    @Option(names = "--name", paramLabel = "NAME")
    private @Nullable String name;

    @Option(
            names = {"-V", "--version"},
            arity = "0..1",
            fallbackValue = "",
            paramLabel = "V")
    private @Nullable String version;

    @Option(names = "--description", paramLabel = "TEXT")
    private @Nullable String description;

    @Option(names = "--processors", paramLabel = "N", defaultValue = "0")
    private double processors;

    @Option(names = "--allocation", paramLabel = "SIZE", defaultValue = "0")
    @SuppressWarnings("NullAway.Init")
    private String allocation;

    @Option(names = "--level", paramLabel = "LEVEL")
    private List<String> levels = new ArrayList<>();

    @Option(names = "--checkpoints", paramLabel = "POLICY", defaultValue = "required")
    @SuppressWarnings("NullAway.Init")
    private String checkpoints;

    @Option(names = "--yank", paramLabel = "NAME:VERSION")
    private @Nullable String yank;

    @Option(names = "--reason", paramLabel = "TEXT")
    private @Nullable String reason;

    @Option(names = "--unyank", paramLabel = "NAME:VERSION")
    private @Nullable String unyank;

    @Option(names = "--ca", descriptionKey = "repository-ca", paramLabel = "FILE")
    private @Nullable Path authorities;

    @Option(names = "--json")
    private boolean json;

    @Option(
            names = {"-h", "--help"},
            usageHelp = true)
    private boolean help;

    /** Made by picocli. */
    PublishCommand() {}

    @Override
    public Integer call() throws IOException {
        if ("".equals(version)) {
            spec.commandLine().printVersionHelp(spec.commandLine().getOut());
            return ExitCode.OK;
        }
        require(
                (jar == null ? 0 : 1) + (yank == null ? 0 : 1) + (unyank == null ? 0 : 1) == 1,
                "one of JAR, --yank and --unyank is wanted");
        require((yank == null) == (reason == null), "--yank and --reason belong together");
        if (repository == null) {
            throw misuse("--repository URL is missing");
        }
        Token token = RepositoryOptions.token(tokenFile);
        if (token == null) {
            throw misuse("the repository's token is missing: give --token-file, or set TAMANOIR_TOKEN");
        }
        try {
            Publisher publisher =
                    new Publisher(RepositoryOptions.uri(repository), RepositoryOptions.tls(authorities), token);
            Output output =
                    new Output(spec.commandLine().getOut(), spec.commandLine().getErr(), json, false);
            if (jar != null) {
                publish(publisher, jar, output);
            } else {
                yank(publisher, output);
            }
            return ExitCode.OK;
        } catch (IllegalArgumentException e) {
            throw new CommandException(ExitCode.USAGE, e);
        } catch (CodeRefusedException e) {
            throw new CommandException(ExitCode.FAILED, e.refusal() + ": " + e.getMessage(), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return ExitCode.FAILED;
        }
    }

    private void publish(Publisher publisher, Path file, Output output)
            throws IOException, InterruptedException, CodeRefusedException {
        if (keyFile == null) {
            throw misuse("--key FILE is missing; 'tamanoir keygen FILE' makes one");
        }
        if (!Files.isReadable(file)) {
            throw new CommandException(ExitCode.USAGE, file + ": cannot be read: no such file, or no permission", null);
        }
        SigningKey key = readKey(keyFile);
        Manifest manifest = withLevels(Publisher.describe(
                file,
                new Publisher.Description(
                        mainClass,
                        name,
                        version,
                        description,
                        new ServiceLimits(processors, Quantity.bytes(allocation, 0, Long.MAX_VALUE))),
                MAX_UNPACKED_BYTES,
                Choice.checkpoints(checkpoints)));
        RepositoryTree.Outcome outcome = publisher.publish(file, manifest, key);
        Map<String, Object> result = new LinkedHashMap<>();
        result.put("outcome", outcome.name().toLowerCase(Locale.ROOT));
        result.put("name", manifest.id().name());
        result.put("version", manifest.id().version());
        result.put("key", ServiceKey.toString(manifest.id().key()));
        result.put("nameKey", ServiceKey.toString(manifest.id().nameKey()));
        result.put("bytes", manifest.jarBytes());
        result.put("sha256", manifest.jarSha256());
        result.put("levels", manifest.levels());
        result.put("publisher", key.publisher().id());
        output.json(result);
        output.line((outcome == RepositoryTree.Outcome.CREATED ? "published " : "already there: ") + manifest.id()
                + ", " + manifest.jarBytes() + " bytes, signed by key "
                + key.publisher().id());
    }

    private Manifest withLevels(Manifest manifest) {
        Set<String> all = new LinkedHashSet<>(manifest.levels());
        all.addAll(levels);
        return new Manifest(
                manifest.id(),
                manifest.mainClass(),
                manifest.jarSha256(),
                manifest.jarBytes(),
                List.copyOf(all),
                manifest.limits(),
                manifest.description());
    }

    private static SigningKey readKey(Path file) {
        try {
            return SigningKey.read(file);
        } catch (IOException e) {
            throw new CommandException(ExitCode.USAGE, e);
        }
    }

    private void yank(Publisher publisher, Output output) throws IOException, InterruptedException {
        String text = yank != null ? yank : String.valueOf(unyank);
        ServiceId id = ServiceId.parse(text);
        if (yank != null && reason != null) {
            publisher.yank(id, reason);
        } else {
            publisher.unyank(id);
        }
        String outcome = yank != null ? "yanked" : "unyanked";
        Map<String, Object> result = new LinkedHashMap<>();
        result.put("outcome", outcome);
        result.put("name", id.name());
        result.put("version", id.version());
        output.json(result);
        output.line(outcome + " " + id);
    }

    private void require(boolean holds, String message) {
        if (!holds) {
            throw misuse(message);
        }
    }

    private ParameterException misuse(String message) {
        return new ParameterException(spec.commandLine(), message);
    }
}
