package org.tamanoir.node;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.tamanoir.node.cli.CommandException;
import org.tamanoir.node.cli.ExitCode;
import org.tamanoir.node.cli.Version;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code tamanoir man}: the manual pages of the program's commands. */
@Command(name = "man", mixinStandardHelpOptions = true, sortOptions = false)
final class ManCommand implements Callable<Integer> {
    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private CommandSpec spec;

    @Parameters(
            arity = "0..1",
            paramLabel = "COMMAND",
            description = "One of the program's commands, node for example. Default: the program itself.")
    private @Nullable String command;

    @Option(names = "--dir", paramLabel = "DIR")
    private @Nullable Path folder;

    /** Made by picocli. */
    ManCommand() {}

    @Override
    public Integer call() {
        CommandLine root = spec.root().commandLine();
        if (folder != null) {
            writeTo(folder, root);
            return ExitCode.OK;
        }
        CommandLine wanted = command == null ? root : root.getSubcommands().get(command);
        if (wanted == null) {
            throw new ParameterException(spec.commandLine(), "no command '" + command + "'");
        }
        spec.commandLine().getOut().print(new ManPage(wanted).text(Version.number()));
        spec.commandLine().getOut().flush();
        return ExitCode.OK;
    }

    private static void writeTo(Path folder, CommandLine root) {
        List<CommandLine> all = new ArrayList<>(root.getSubcommands().values());
        all.add(root);
        try {
            Files.createDirectories(folder);
            for (CommandLine each : all) {
                Files.writeString(folder.resolve(ManPage.name(each) + ".1"), new ManPage(each).text(Version.number()));
            }
        } catch (IOException e) {
            throw new CommandException(ExitCode.FAILED, e);
        }
    }
}
