package org.tamanoir.node;

import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.PropertyResourceBundle;
import java.util.ResourceBundle;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.tamanoir.deploy.OneLine;
import org.tamanoir.node.author.KeygenCommand;
import org.tamanoir.node.author.NewServiceCommand;
import org.tamanoir.node.author.PublishCommand;
import org.tamanoir.node.author.RepositoryCommand;
import org.tamanoir.node.author.VerifyCommand;
import org.tamanoir.node.cli.CommandException;
import org.tamanoir.node.cli.ExitCode;
import org.tamanoir.node.cli.Logging;
import org.tamanoir.node.cli.Version;
import org.tamanoir.node.ctl.ArenaCommand;
import org.tamanoir.node.ctl.CaptureCommand;
import org.tamanoir.node.ctl.CtlCommand;
import org.tamanoir.node.ctl.ObserveCommand;
import org.tamanoir.node.demo.DemoCommand;
import org.tamanoir.node.director.DirectorCommand;
import org.tamanoir.node.element.AggregateCommand;
import org.tamanoir.node.element.DistributeCommand;
import org.tamanoir.node.ffs.FfsCommand;
import org.tamanoir.node.load.ReceiveCommand;
import org.tamanoir.node.load.SendCommand;
import org.tamanoir.node.reflect.ReflectCommand;
import org.tamanoir.node.run.NodeCommand;
import org.tamanoir.service.Suggestion;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.ScopeType;
import picocli.CommandLine.Spec;
import picocli.CommandLine.UnmatchedArgumentException;

/** The program {@code tamanoir}: finds the command, turns every failure into one line and an exit code. */
@Command(
        name = "tamanoir",
        mixinStandardHelpOptions = true,
        versionProvider = Version.class,
        synopsisSubcommandLabel = "[COMMAND]",
        commandListHeading = "%nCommands:%n")
public final class Main implements Callable<Integer> {
    private static final List<Class<?>> COMMANDS = List.of(
            NodeCommand.class,
            CtlCommand.class,
            ArenaCommand.class,
            DirectorCommand.class,
            ReflectCommand.class,
            SendCommand.class,
            ReceiveCommand.class,
            DistributeCommand.class,
            AggregateCommand.class,
            DemoCommand.class,
            NewServiceCommand.class,
            RepositoryCommand.class,
            KeygenCommand.class,
            PublishCommand.class,
            VerifyCommand.class,
            FfsCommand.class,
            CompletionCommand.class,
            ManCommand.class);

    /** They tell of all others. */
    private static final Set<Class<?>> ABOUT_ALL = Set.of(CompletionCommand.class, ManCommand.class);

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private CommandSpec spec;

    private boolean verbose;

    private Main() {}

    /** Runs a command and ends the process with its exit code. */
    public static void main(String[] args) {
        // What programs read and write is the same wherever the host stands: digits, separators and UTF-8.
        Locale.setDefault(Locale.ROOT);
        PrintWriter out = new PrintWriter(System.out, true, StandardCharsets.UTF_8);
        PrintWriter err = new PrintWriter(System.err, true, StandardCharsets.UTF_8);
        int code = ExitCode.LOST;
        try {
            code = run(out, err, args);
        } catch (Error e) {
            try {
                e.printStackTrace();
            } finally {
                Runtime.getRuntime()
                        .halt(ExitCode.LOST); // Other threads would keep a process without its main thread alive.
            }
        }
        System.exit(code);
    }

    /**
     * Runs a command in this process, with these in place of standard output and standard error. A command whose output
     * is lost has failed, whatever it printed: help and versions too. Those that serve run on, those that follow end.
     */
    public static int run(PrintWriter out, PrintWriter err, String... args) {
        int code = commandLine(args).setOut(out).setErr(err).execute(args);
        if (!out.checkError()) {
            return code;
        }
        err.println("tamanoir: standard output cannot be written: it is full or closed");
        err.flush();
        return code == ExitCode.OK ? ExitCode.FAILED : code;
    }

    /** With the command alone that the first argument names: to read the others' options takes 50 ms of a start. */
    public static CommandLine commandLine(String... args) {
        CommandLine root = new CommandLine(new Main());
        List<Class<?>> named = COMMANDS.stream()
                .filter(command -> args.length > 0
                        && !ABOUT_ALL.contains(command)
                        && command.getAnnotation(Command.class).name().equals(args[0]))
                .toList();
        (named.isEmpty() ? COMMANDS : named).forEach(root::addSubcommand);
        @Nullable CommandLine node = root.getSubcommands().get("node");
        if (node != null) {
            NodeCommand.addSettings(node.getCommandSpec());
            node.addSubcommand(ObserveCommand.class).addSubcommand(CaptureCommand.class);
        }
        root.getSubcommands()
                .values()
                .forEach(command -> command.getCommandSpec().versionProvider(new Version()));
        root.setResourceBundle(texts());
        root.setExpandAtFiles(false); // What a file says is no option; @FILE is a value of some.
        return root.setExecutionStrategy(Main::runLast)
                .setParameterExceptionHandler(Main::misused)
                .setExecutionExceptionHandler(Main::failed);
    }

    /** Reads the texts of all commands' help; in one language, so that no other is looked for. */
    private static ResourceBundle texts() {
        try (InputStream in = Main.class.getResourceAsStream("commands.properties")) {
            return new PropertyResourceBundle(Objects.requireNonNull(in));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Option(
            names = {"-v", "--verbose"},
            scope = ScopeType.INHERIT)
    private void setVerbose(boolean wanted) {
        // picocli also sets the initial value, false, once for each command that inherits the option.
        if (wanted) {
            verbose = true;
            System.setProperty(Logging.VERBOSE, "true");
        }
    }

    /** Runs a node with its defaults: what the program does without a command. */
    @Override
    public Integer call() {
        CommandLine program = spec.commandLine();
        program.getErr().println("running a node with its defaults; 'tamanoir --help' shows the commands");
        return Objects.requireNonNull(program.getSubcommands().get("node")).execute();
    }

    /** Refuses {@code ctl deploy X --version 1.0}: the program's version would be shown, and nothing done. */
    private static int runLast(ParseResult parsed) {
        ParseResult last = parsed;
        while (last.hasSubcommand()) {
            last = last.subcommand();
        }
        if (last.isVersionHelpRequested() && !last.matchedPositionals().isEmpty()) {
            throw new ParameterException(
                    last.commandSpec().commandLine(),
                    "--version stands alone, and shows the program's; a service's is given as NAME:VERSION");
        }
        return new CommandLine.RunLast().execute(parsed);
    }

    private static int misused(ParameterException e, String[] args) {
        CommandLine command = e.getCommandLine();
        String name = command.getCommandSpec().qualifiedName();
        String what = e instanceof UnmatchedArgumentException unmatched ? unmatched(unmatched) : e.getMessage();
        print(command, name + ": " + what + "; see '" + name + " --help'", e);
        return ExitCode.USAGE;
    }

    /** Returns what nothing is known by: options without the values behind them, or else the first word. */
    private static String unmatched(UnmatchedArgumentException e) {
        CommandSpec command = e.getCommandLine().getCommandSpec();
        List<String> options = e.getUnmatched().stream()
                .filter(word -> word.matches("-.+"))
                .map(word -> word.replaceFirst("=.*", ""))
                .toList();
        boolean isOption = e.isUnknownOption() && !options.isEmpty();
        String what = !isOption
                ? e.getMessage()
                : "Unknown option" + (options.size() > 1 ? "s" : "") + ": '" + String.join("', '", options) + "'";
        return what
                + Suggestion.of(
                        isOption ? options.get(0) : e.getUnmatched().get(0),
                        isOption
                                ? command.optionsMap().keySet()
                                : command.subcommands().keySet());
    }

    private static int failed(Exception e, CommandLine command, ParseResult parsed) {
        String what = CommandException.line(e);
        print(command, command.getCommandSpec().qualifiedName() + ": " + what, e);
        if (e instanceof CommandException known) {
            known.details.forEach(line -> command.getErr().println("  " + oneLine(line)));
            command.getErr().flush();
        }
        return e instanceof CommandException known ? known.exitCode : ExitCode.FAILED;
    }

    private static String oneLine(String text) {
        return OneLine.of(text.replaceAll("\\s*\\R\\s*", " "));
    }

    private static void print(CommandLine command, String text, Exception e) {
        PrintWriter err = command.getErr();
        err.println(oneLine(text));
        if (command.getCommandSpec().root().userObject() instanceof Main main && main.verbose) {
            e.printStackTrace(err);
        }
        err.flush();
    }
}
