package org.tamanoir.node.ffs;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.tamanoir.deploy.OneLine;
import org.tamanoir.deploy.SigningKey;
import org.tamanoir.format.FfsReader;
import org.tamanoir.format.Format;
import org.tamanoir.format.FormatException;
import org.tamanoir.format.FormatId;
import org.tamanoir.format.ItemKind;
import org.tamanoir.format.text.JsonFaults;
import org.tamanoir.node.cli.CommandException;
import org.tamanoir.node.cli.ExitCode;
import org.tamanoir.node.cli.Json;
import org.tamanoir.node.cli.OutputFile;
import org.tamanoir.node.cli.RepositoryOptions;
import org.tamanoir.node.cli.Version;
import org.tamanoir.repository.Publisher;
import org.tamanoir.repository.RepositoryTree;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import tools.jackson.core.JacksonException;

/** {@code tamanoir ffs}: {@code dump}, {@code describe}, {@code convert} and {@code publish}. */
@Command(name = "ffs", mixinStandardHelpOptions = true, sortOptions = false)
public final class FfsCommand implements Callable<Integer> {
    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private CommandSpec spec;

    /** Made by picocli. */
    FfsCommand() {}

    @Override
    public Integer call() {
        throw new ParameterException(spec.commandLine(), "Missing subcommand: dump, describe, convert or publish");
    }

    @Command(mixinStandardHelpOptions = true, versionProvider = Version.class)
    int dump(
            @Parameters(paramLabel = "FILE", description = "With FFS records.") Path file,
            @Option(names = "--stream") boolean stream) {
        JsonLines lines = new JsonLines();
        return records(file, stream, reader -> print(lines.line(reader.record())));
    }

    @Command(mixinStandardHelpOptions = true, versionProvider = Version.class)
    int describe(
            @Parameters(paramLabel = "FILE", description = "With FFS records.") Path file,
            @Option(names = "--stream") boolean stream) {
        Set<FormatId> seen = new HashSet<>();
        try (FfsReader reader = open(file, stream)) {
            for (ItemKind kind = next(reader); kind != null; kind = next(reader)) {
                if (kind == ItemKind.FORMAT && seen.add(reader.format().id())) {
                    print(Json.of(Description.of(reader.format())));
                }
            }
            return ExitCode.OK;
        } catch (FormatException | IOException e) {
            throw failed(file, e);
        }
    }

    @Command(mixinStandardHelpOptions = true, versionProvider = Version.class)
    int convert(
            @Parameters(paramLabel = "FILE", description = "With FFS records, or *.json, *.cbor or *.xml.") Path file,
            @Parameters(
                            paramLabel = "OUTPUT",
                            description = "*.ffs, *.json, *.cbor, *.xml or *.csv; - = standard output, as .json.")
                    Path output,
            @Option(names = "--stream") boolean stream,
            @Option(names = "--formats", paramLabel = "FILE") @Nullable Path formats,
            @Option(names = "--order", paramLabel = "ORDER") @Nullable String order,
            @Option(names = "--pointer-bytes", paramLabel = "N") @Nullable Integer pointerBytes) {
        boolean text = TextInput.isText(file);
        if (text && formats == null) {
            throw usage(file + " does not describe its records: say --formats FILE, an FFS file");
        }
        try {
            requireOther(output, file);
            if (formats != null) {
                requireOther(output, formats);
            }
            boolean replaces = !OutputFile.isStandard(output) && (!Files.exists(output) || Files.isRegularFile(output));
            Path whole = replaces && Files.exists(output) ? output.toRealPath() : output;
            Path part = replaces
                    ? whole.resolveSibling(
                            whole.getFileName() + "." + ProcessHandle.current().pid() + ".part")
                    : whole;
            try {
                int code;
                try (RecordOutput out = RecordOutput.open(output, part, order, pointerBytes)) {
                    code = formats != null && text
                            ? texts(file, formats, out)
                            : records(file, stream, reader -> out.write(reader.record()));
                }
                if (replaces) {
                    Files.move(part, whole, StandardCopyOption.REPLACE_EXISTING);
                }
                return code;
            } finally {
                if (replaces) {
                    Files.deleteIfExists(part);
                }
            }
        } catch (FormatException | IOException | UncheckedIOException | JacksonException e) {
            throw failed(file, e);
        }
    }

    @Command(mixinStandardHelpOptions = true, versionProvider = Version.class)
    int publish(
            @Parameters(paramLabel = "FILE", description = "With FFS formats.") Path file,
            @Option(names = "--stream") boolean stream,
            @Option(names = "--repository", paramLabel = "URL", required = true) String repository,
            @Option(names = "--key", paramLabel = "FILE") @Nullable Path keyFile,
            @Option(names = "--token-file", paramLabel = "FILE") @Nullable Path tokenFile,
            @Option(names = "--ca", descriptionKey = "repository-ca", paramLabel = "FILE") @Nullable Path authorities) {
        Set<FormatId> seen = new HashSet<>();
        try (FfsReader reader = open(file, stream)) {
            SigningKey key = keyFile == null ? null : SigningKey.read(keyFile);
            Publisher publisher = new Publisher(
                    RepositoryOptions.uri(repository),
                    RepositoryOptions.tls(authorities),
                    RepositoryOptions.token(tokenFile));
            for (ItemKind kind = reader.next(); kind != null; kind = reader.next()) {
                if (kind == ItemKind.FORMAT && seen.add(reader.format().id())) {
                    Format format = reader.format();
                    boolean isSame = publisher.publish(format, key) == RepositoryTree.Outcome.SAME;
                    print((isSame ? "already there: " : "published ") + format.id() + " "
                            + OneLine.quoted(format.name())
                            + (key == null
                                    ? ""
                                    : ", signed by key " + key.publisher().id()));
                }
            }
            return ExitCode.OK;
        } catch (FormatException e) {
            throw failed(file, e);
        } catch (IOException | IllegalArgumentException e) {
            throw new CommandException(ExitCode.FAILED, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return ExitCode.FAILED;
        }
    }

    private static int texts(Path file, Path formats, RecordOutput out) throws IOException {
        try (FfsReader known = open(formats, false)) {
            TextInput.read(file, TextInput.formats(known), out);
            return ExitCode.OK;
        }
    }

    private static void requireOther(Path output, Path input) throws IOException {
        if (Files.exists(output) && Files.exists(input) && Files.isSameFile(output, input)) {
            throw usage("OUTPUT " + output + " is the file that is read: name another");
        }
    }

    private static CommandException usage(String line) {
        return new CommandException(ExitCode.USAGE, line, null);
    }

    private void print(String line) {
        spec.commandLine().getOut().println(line);
    }

    /** Returns the next item; none where nobody reads what is printed. */
    private @Nullable ItemKind next(FfsReader reader) throws FormatException, IOException {
        return spec.commandLine().getOut().checkError() ? null : reader.next();
    }

    /** What is done with a record. */
    private interface Action {
        void on(FfsReader reader) throws IOException;
    }

    /** Goes through the records; a damaged one is named on standard error, and those behind it are read. */
    private int records(Path file, boolean stream, Action action) {
        int code = ExitCode.OK;
        try (FfsReader reader = open(file, stream)) {
            long number = 0;
            for (ItemKind kind = next(reader); kind != null; kind = next(reader)) {
                if (kind == ItemKind.DATA) {
                    try {
                        action.on(reader);
                    } catch (FormatException e) {
                        code = ExitCode.FAILED;
                        spec.commandLine().getErr().println(file + ": record " + number + ": " + line(e));
                    }
                    number++;
                }
            }
        } catch (FormatException | IOException | UncheckedIOException | JacksonException e) {
            throw failed(file, e);
        }
        return code;
    }

    private static FfsReader open(Path file, boolean stream) throws IOException {
        // Not buffered, which would ask how much is there: a pipe does not know. The reader takes 64 KiB at once.
        InputStream in = Files.newInputStream(file);
        return stream ? FfsReader.ofStream(in) : FfsReader.ofFile(in);
    }

    /** Returns the refusal without what would make it several lines, or move the terminal: names are foreign. */
    static String line(FormatException e) {
        return e.fault() + ": " + String.valueOf(e.getMessage()).replaceAll("\\p{Cntrl}", "?");
    }

    private static CommandException failed(Path file, Exception e) {
        Throwable cause = e instanceof UncheckedIOException && e.getCause() instanceof IOException io ? io : e;
        if (cause instanceof FileSystemException) { // Names its file, perhaps that of the output.
            return new CommandException(ExitCode.FAILED, CommandException.line(cause), e);
        }
        String line = cause instanceof FormatException refused
                ? line(refused)
                : cause instanceof JacksonException json ? JsonFaults.why(json) : CommandException.line(cause);
        return new CommandException(ExitCode.FAILED, file + ": " + line, e);
    }
}
