package org.tamanoir.benchmarks.qos;

import java.io.IOException;
import java.nio.file.Path;
import java.time.ZonedDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.tamanoir.benchmarks.Host;
import org.tamanoir.benchmarks.qos.Section.Finding;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The experiments of the QoS paper and those that it could not run, one after another, into one report. */
@Command(
        name = "qos",
        mixinStandardHelpOptions = true,
        showDefaultValues = true,
        description = "Runs the experiments on quality of service in this process, over loopback, and writes a page of "
                + "Markdown with plots (PNG), data (CSV) and the paper's figures beside ours. "
                + "Exit code 1: an experiment failed.")
public final class QosExperiments implements Callable<Integer> {
    private static final double MAX_SECONDS = 600;
    private static final List<Experiment> ALL = List.of(
            new Experiment("fig4", "Figure 4: FIFO before processing", ThroughputFigures::figure4),
            new Experiment("fig5", "Figure 5: strict priority before processing", ThroughputFigures::figure5),
            new Experiment(
                    "fig6", "Figure 6: strict priority before processing, limited network", ThroughputFigures::figure6),
            new Experiment(
                    "fig7", "Figure 7: strict priority after processing, limited network", ThroughputFigures::figure7),
            new Experiment("fig8", "Figure 8: WFQ before processing, enriched flow", ThroughputFigures::figure8),
            new Experiment("fig9", "Figure 9: WFQ after processing, enriched flow", ThroughputFigures::figure9),
            new Experiment("both", "Before and after processing at once", BothAtOnce::run),
            new Experiment("table10", "Figure 10: delay through two nodes", DelayTable::table10),
            new Experiment("delay", "Delay that one node adds", DelayTable::steady),
            new Experiment("throughput", "Throughput that is left", Throughput::run),
            new Experiment("shares", "Shares of links and processors", Shares::run));

    @Spec
    private @Nullable CommandSpec spec;

    @Option(names = "--output", description = "Folder for the report.")
    private Path output = Path.of("benchmarks", "results", "qos");

    @Option(names = "--seconds", description = "Length of a run that shows throughput against time; all else scales.")
    private double seconds = Experiment.Settings.DEFAULT_SECONDS;

    @Option(
            names = "--only",
            split = ",",
            description = "Some experiments: fig4 to fig9, both, table10, delay, throughput, shares.")
    private List<String> only = List.of();

    @Option(names = "--off", description = "The same loads without any quality of service.")
    private boolean off;

    /** Made by picocli. */
    public QosExperiments() {}

    @Override
    public Integer call() throws IOException {
        validate();
        ZonedDateTime started = ZonedDateTime.now();
        List<Experiment> wanted = ALL.stream()
                .filter(each -> only.isEmpty() || only.contains(each.id()))
                .toList();
        List<Section> sections = new ArrayList<>();
        List<String> failures = new ArrayList<>();
        String settings = String.format(
                Locale.ROOT,
                "runs of %.1f s%s; senders, nodes and sink share one process and its processors",
                seconds,
                off ? ", all without quality of service" : "");
        Path page = output;
        for (int i = 0; i < wanted.size(); i++) {
            run(wanted.get(i), String.format("[%d/%d] ", i + 1, wanted.size()), sections, failures);
            // A report that is interrupted keeps what it has.
            page = new QosReport(started, Host.facts(), settings, sections, failures).write(output);
        }
        System.out.println("\nwritten to " + page);
        return failures.isEmpty() ? 0 : 1;
    }

    private void validate() {
        if (seconds < 0.5 || seconds > MAX_SECONDS) {
            fail("--seconds " + seconds + ": 0.5 to " + MAX_SECONDS);
        }
        List<String> ids = ALL.stream().map(Experiment::id).toList();
        for (String id : only) {
            if (!ids.contains(id)) {
                fail("--only " + id + ": must be of " + String.join(", ", ids));
            }
        }
    }

    private void fail(String message) {
        if (spec == null) {
            throw new IllegalArgumentException(message);
        }
        throw new ParameterException(spec.commandLine(), message);
    }

    private void run(Experiment experiment, String progress, List<Section> sections, List<String> failures) {
        System.out.println(progress + experiment.title() + " …");
        long beginNs = System.nanoTime();
        Optional<Disturbance> before = Disturbance.now();
        try {
            Section section = experiment.run(new Experiment.Settings(seconds, off));
            sections.add(section);
            disturbance(before).ifPresent(text -> section.say("Meanwhile " + text + "."));
            for (Finding found : section.findings()) {
                System.out.println("    " + found.quantity() + ": " + found.measured()
                        + (found.reference().equals("–") ? "" : "   [" + found.reference() + "]"));
            }
        } catch (IOException | RuntimeException e) {
            String what = experiment.id() + ": " + (e.getMessage() == null ? e : e.getMessage());
            failures.add(what);
            System.out.println("FAILED " + what);
        }
        System.out.printf(
                Locale.ROOT,
                "    %.0f s%s%n",
                (System.nanoTime() - beginNs) / 1e9,
                disturbance(before).map(text -> ", " + text).orElse(""));
    }

    private static Optional<String> disturbance(Optional<Disturbance> before) {
        return Disturbance.now()
                .flatMap(after -> before.map(after::percentSince))
                .map(percent -> "other processes used " + percent + " % of the machine");
    }
}
