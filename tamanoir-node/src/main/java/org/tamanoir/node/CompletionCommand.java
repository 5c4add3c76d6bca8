package org.tamanoir.node;

import java.io.PrintWriter;
import picocli.AutoComplete;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code tamanoir completion}. */
@Command(
        name = "completion",
        mixinStandardHelpOptions = true,
        description = {
            "Print a script that completes commands and options in bash and zsh.",
            "It completes the word tamanoir, so give the jar that name: alias tamanoir='java -jar tamanoir-node.jar'; "
                    + "then: source <(tamanoir completion)"
        })
final class CompletionCommand implements Runnable {
    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private CommandSpec spec;

    /** Made by picocli. */
    CompletionCommand() {}

    @Override
    public void run() {
        CommandLine root = spec.root().commandLine();
        PrintWriter out = spec.commandLine().getOut();
        out.print(AutoComplete.bash(root.getCommandName(), root));
        out.flush();
    }
}
