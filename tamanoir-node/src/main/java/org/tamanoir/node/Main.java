package org.tamanoir.node;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
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
        synopsisSubcommandLabel = "COMMAND",
        description = "An active network node: services run on streams of ANEP packets while they are in transit.",
        commandListHeading = "%nCommands:%n",
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:done",
            "1:the command failed in its work",
            "2:wrong usage, wrong configuration, or it could not start"
        },
        footer = {
            "",
            "Units: k, M and G are powers of 1000 in numbers of packets and in rates, powers of 1024 in sizes of "
                    + "memory, where KiB, MiB and GiB mean the same; times have ms, s, m or h.",
            "Addresses: HOST:PORT, [V6]:PORT; a port alone means 127.0.0.1, a host alone port 3322.",
            "Help on a command: tamanoir COMMAND --help"
        })
public final class Main implements Runnable {
    static final int OK = 0;
    static final int FAILED = 1;
    static final int USAGE = 2;

    private static final List<Class<?>> COMMANDS = List.of(
            NodeCommand.class,
            CtlCommand.class,
            DirectorCommand.class,
            SendCommand.class,
            ReceiveCommand.class,
            DemoCommand.class,
            NewServiceCommand.class,
            RepositoryCommand.class,
            KeygenCommand.class,
            PublishCommand.class,
            VerifyCommand.class,
            CompletionCommand.class);

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private CommandSpec spec;

    private boolean verbose;

    private Main() {}

    /** Runs a command and ends the process with its exit code. */
    public static void main(String[] args) {
        System.exit(commandLine(args).execute(args));
    }

    /** Runs a command in this process, with these in place of standard output and standard error. */
    static int run(PrintWriter out, PrintWriter err, String... args) {
        return commandLine(args).setOut(out).setErr(err).execute(args);
    }

    /** With the command alone that the first argument names: to read the others' options takes 50 ms of a start. */
    static CommandLine commandLine(String... args) {
        CommandLine root = new CommandLine(new Main());
        List<Class<?>> named = COMMANDS.stream()
                .filter(command -> args.length > 0
                        && command != CompletionCommand.class
                        && command.getAnnotation(Command.class).name().equals(args[0]))
                .toList();
        (named.isEmpty() ? COMMANDS : named).forEach(root::addSubcommand);
        root.getSubcommands()
                .values()
                .forEach(command -> command.getCommandSpec().versionProvider(new Version()));
        return root.setParameterExceptionHandler(Main::misused).setExecutionExceptionHandler(Main::failed);
    }

    @Option(
            names = {"-v", "--verbose"},
            scope = ScopeType.INHERIT,
            description = "Log in detail, and print the stack trace of an error.")
    private void setVerbose(boolean wanted) {
        // picocli also sets the initial value, false, once for each command that inherits the option.
        if (wanted) {
            verbose = true;
            System.setProperty(Logging.VERBOSE, "true");
        }
    }

    /** Without a command. */
    @Override
    public void run() {
        spec.commandLine().usage(spec.commandLine().getErr());
        throw new CommandException(USAGE, "a command is missing", null);
    }

    private static int misused(ParameterException e, String[] args) {
        CommandLine command = e.getCommandLine();
        List<String> guesses = new ArrayList<>();
        if (e instanceof UnmatchedArgumentException unmatched) {
            guesses.addAll(unmatched.getSuggestions());
        }
        String name = command.getCommandSpec().qualifiedName();
        String guess = guesses.isEmpty() ? "" : "; did you mean " + String.join(" or ", guesses) + "?";
        print(command, name + ": " + e.getMessage() + guess + "; see '" + name + " --help'", e);
        return USAGE;
    }

    private static int failed(Exception e, CommandLine command, ParseResult parsed) {
        String what = e.getMessage() == null || e.getMessage().isBlank() ? e.toString() : e.getMessage();
        print(command, command.getCommandSpec().qualifiedName() + ": " + what, e);
        if (e instanceof CommandException known) {
            known.details.forEach(line -> command.getErr().println("  " + line.replaceAll("\\s*\\R\\s*", " ")));
            command.getErr().flush();
        }
        return e instanceof CommandException known ? known.exitCode : FAILED;
    }

    private static void print(CommandLine command, String text, Exception e) {
        PrintWriter err = command.getErr();
        err.println(text.replaceAll("\\s*\\R\\s*", " "));
        if (command.getCommandSpec().root().userObject() instanceof Main main && main.verbose) {
            e.printStackTrace(err);
        }
        err.flush();
    }
}
