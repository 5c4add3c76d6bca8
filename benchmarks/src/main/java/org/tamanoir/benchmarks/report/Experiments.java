package org.tamanoir.benchmarks.report;

import java.io.IOException;
import java.nio.file.Path;
import java.time.ZonedDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import org.tamanoir.benchmarks.Host;
import org.tamanoir.benchmarks.report.Section.Finding;

/**
 * Runs experiments one after another, tells on standard output how far it is, and writes the page after each, so that
 * a run that is interrupted keeps what it has.
 *
 * <p>Thread contract: one thread.
 *
 * @param <S> how they run
 */
public final class Experiments<S> {
    private static final long LISTEN_NS = 500_000_000;

    private final List<Experiment<S>> all;
    private final String title;
    private final String fileName;
    private final boolean inThisProcess;

    /**
     * All that there are.
     *
     * @param title of the page, without the date
     * @param fileName of the page
     * @param inThisProcess whether all runs in this process: then the page says how much of the machine others used
     *     meanwhile, else how much was in use before each experiment
     */
    public Experiments(String title, String fileName, boolean inThisProcess, List<Experiment<S>> all) {
        this.all = List.copyOf(all);
        this.title = title;
        this.fileName = fileName;
        this.inThisProcess = inThisProcess;
    }

    /**
     * Returns these names of experiments.
     *
     * @throws IllegalArgumentException with those that there are
     */
    public List<String> checked(List<String> only) {
        List<String> ids = all.stream().map(Experiment::id).toList();
        only.stream().filter(id -> !ids.contains(id)).findFirst().ifPresent(id -> {
            throw new IllegalArgumentException("--only " + id + ": must be of " + String.join(", ", ids));
        });
        return only;
    }

    /**
     * Runs them.
     *
     * @param only these; empty = all
     * @param note on how they run, for the page
     * @return whether none failed
     */
    public boolean run(List<String> only, S settings, String note, Path folder) throws IOException {
        ZonedDateTime started = ZonedDateTime.now();
        List<Experiment<S>> wanted = all.stream()
                .filter(each -> only.isEmpty() || only.contains(each.id()))
                .toList();
        List<Section> sections = new ArrayList<>();
        List<String> failures = new ArrayList<>();
        Path file = folder;
        for (int i = 0; i < wanted.size(); i++) {
            run(wanted.get(i), settings, "[%d/%d] ".formatted(i + 1, wanted.size()), sections, failures);
            file = new Page(title, started, Host.facts(), note, sections, failures).write(folder, fileName);
        }
        System.out.println("\nwritten to " + file);
        return failures.isEmpty();
    }

    private void run(
            Experiment<S> experiment, S settings, String progress, List<Section> sections, List<String> failures) {
        System.out.println(progress + experiment.title() + " …");
        long beginNs = System.nanoTime();
        Optional<Disturbance> before = Disturbance.now();
        Optional<String> noise = Optional.empty();
        if (!inThisProcess) {
            LockSupport.parkNanos(LISTEN_NS);
            noise = since(before).map(percent -> "just before, " + percent);
        }
        try {
            Section section = experiment.run(settings);
            sections.add(section);
            if (inThisProcess) {
                noise = since(before).map(percent -> "meanwhile " + percent);
            }
            noise.ifPresent(text -> section.say(Character.toUpperCase(text.charAt(0)) + text.substring(1) + "."));
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
                "    %.0f s%s%n",
                (System.nanoTime() - beginNs) / 1e9,
                noise.map(text -> ", " + text).orElse(""));
    }

    private static Optional<String> since(Optional<Disturbance> before) {
        return Disturbance.now()
                .flatMap(after -> before.map(after::percentSince))
                .map(percent -> "other processes used " + percent + " % of the machine");
    }
}
