package org.tamanoir.node.ctl;

import java.io.PrintWriter;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorCompletionService;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.tamanoir.node.cli.CommandException;
import org.tamanoir.node.cli.ExitCode;
import org.tamanoir.node.cli.Version;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code tamanoir node observe}: follows a running node. */
@Command(name = "observe", mixinStandardHelpOptions = true, versionProvider = Version.class, sortOptions = false)
public final class ObserveCommand implements Runnable {
    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private CommandSpec spec;

    @Mixin
    private final AdminOptions admin = new AdminOptions();

    @Option(names = "--drops")
    private boolean drops;

    @Option(names = "--events")
    private boolean events;

    @Option(names = "--json")
    private boolean json;

    /** Made by picocli. */
    ObserveCommand() {}

    /** Ends with the first of what it follows, which is with the node. */
    @Override
    public void run() {
        AdminClient client = admin.client();
        boolean both = drops == events;
        ExecutorService threads = Executors.newCachedThreadPool(task -> {
            Thread thread = new Thread(task, "observe");
            thread.setDaemon(true);
            return thread;
        });
        try {
            ExecutorCompletionService<Void> following = new ExecutorCompletionService<>(threads);
            if (drops || both) {
                following.submit(() -> client.follow("/v1/drops", this::print), null);
            }
            if (events || both) {
                following.submit(() -> client.follow("/v1/events", this::print), null);
            }
            following.take().get();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (ExecutionException e) {
            throw e.getCause() instanceof CommandException known
                    ? known
                    : new CommandException(ExitCode.FAILED, String.valueOf(e.getCause()), e);
        } finally {
            threads.shutdownNow();
        }
    }

    /** Returns whether it was printed. */
    private synchronized boolean print(AdminClient.ServerEvent event) {
        PrintWriter out = spec.commandLine().getOut();
        if (json) {
            out.println(event.text());
        } else {
            out.println(
                    switch (event.kind()) {
                        case "drop" -> CtlTables.drop(event.data());
                        case "missed" ->
                            JsonTable.text(event.data(), "missed") + " more drops came faster than they could be shown";
                        default -> CtlTables.event(event.data());
                    });
        }
        return !out.checkError();
    }
}
