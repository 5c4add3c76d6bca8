package org.tamanoir.node.ctl;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.tamanoir.arena.ArenaReader;
import org.tamanoir.arena.Fields;
import org.tamanoir.node.cli.CommandException;
import org.tamanoir.node.cli.ExitCode;
import org.tamanoir.node.cli.Output;
import org.tamanoir.node.cli.StopSignal;
import org.tamanoir.node.cli.TextTable;
import org.tamanoir.node.cli.Version;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code tamanoir arena}: what a node of this host has allotted to classes and links, from its arena's file. */
@Command(name = "arena", mixinStandardHelpOptions = true, versionProvider = Version.class, sortOptions = false)
public final class ArenaCommand implements Runnable {
    private static final long MAX_WATCH_MS = Duration.ofHours(1).toMillis();
    private static final Duration STOP_GRACE = Duration.ofSeconds(2);
    /** Before the numbers, which come by their places. */
    private static final List<String> LABEL = List.of("KIND", "POINT", "NAME");

    private static final List<String> NUMBERS = List.of(
            "RUNNING",
            "WAITING",
            "RECENT NS",
            "WEIGHT",
            "QUEUED",
            "LIMIT",
            "DROPS",
            "PROCESSORS",
            "CONTENDED",
            "RATE",
            "TOKENS");

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private CommandSpec spec;

    @Parameters(paramLabel = "FILE", description = "The node's file, as in /dev/shm/tamanoir.")
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private Path file;

    @Option(names = "--watch", paramLabel = "MS")
    private @Nullable Long watchMs;

    @Option(names = "--json")
    private boolean json;

    /** Made by picocli. */
    ArenaCommand() {}

    @Override
    public void run() {
        Long everyMs = watchMs;
        if (everyMs != null && (everyMs < 1 || everyMs > MAX_WATCH_MS)) {
            throw new CommandException(
                    ExitCode.USAGE, "--watch " + everyMs + ": 1 to " + MAX_WATCH_MS + " ms are allowed", null);
        }
        ArenaReader arena;
        try {
            arena = ArenaReader.open(file);
        } catch (IOException e) {
            throw new CommandException(ExitCode.FAILED, e);
        }
        Output output =
                new Output(spec.commandLine().getOut(), spec.commandLine().getErr(), json, false);
        if (!arena.isLive()) {
            output.message("arena " + file + ": its node, process " + arena.process() + ", runs no more");
        }
        show(arena, output);
        if (everyMs != null) {
            watch(arena, TimeUnit.MILLISECONDS.toNanos(everyMs), output);
        }
    }

    private void watch(ArenaReader arena, long everyNs, Output output) {
        try (StopSignal stop = new StopSignal(STOP_GRACE)) {
            while (arena.isLive() && !output.isLost() && !stop.await(everyNs)) {
                output.line("");
                show(arena, output);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void show(ArenaReader arena, Output output) {
        List<ArenaReader.Shown> shown = arena.look();
        table(shown).lines().forEach(output::line);
        output.json(Map.of("slots", shown.stream().map(ArenaCommand::json).toList()));
    }

    private static Map<String, Object> json(ArenaReader.Shown shown) {
        Map<String, Object> object = new LinkedHashMap<>();
        object.put("kind", kind(shown));
        object.put("point", shown.point());
        object.put("name", shown.name());
        shown.kind()
                .fields()
                .forEach(field ->
                        object.put(Fields.NAMES.get(field), shown.numbers().get(field)));
        return object;
    }

    private static TextTable table(List<ArenaReader.Shown> shown) {
        TextTable table =
                new TextTable(Stream.concat(LABEL.stream(), NUMBERS.stream()).toArray(String[]::new));
        for (ArenaReader.Shown each : shown) {
            List<Object> row = new ArrayList<>(List.of(kind(each), each.point(), each.name()));
            for (int field = 0; field < NUMBERS.size(); field++) {
                row.add(each.kind().fields().contains(field) ? each.numbers().get(field) : "-");
            }
            table.row(row.toArray());
        }
        return table;
    }

    private static String kind(ArenaReader.Shown shown) {
        return shown.kind().name().toLowerCase(Locale.ROOT);
    }
}
