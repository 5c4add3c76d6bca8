package org.tamanoir.services.morph;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.tamanoir.format.Format;
import org.tamanoir.message.Bound;

/**
 * Makes the tree that {@link MorphControl#view} gives.
 *
 * <p>Thread contract: any thread; counts are of about now.
 */
final class PlanView {
    private static final String PATHS = "(paths)";
    private static final String GONE = "(gone)";
    private static final int MAX_INSTANCES = 100;
    private static final int MAX_ROWS = 1000;
    private static final long STALLED_NS = 1_000_000_000;
    private static final double NS_PER_MS = 1e6;

    private final String service;
    private final Plan plan;
    private final long generation;
    private final List<Engine> engines;
    private final long nowNs;

    PlanView(String service, Plan plan, long generation, List<Engine> engines, long nowNs) {
        this.service = service;
        this.plan = plan;
        this.generation = generation;
        this.engines = engines;
        this.nowNs = nowNs;
    }

    /** Adds what an engine has counted, by the names of handlers. */
    static void addCounts(Engine engine, Map<String, StageCounts> counts) {
        counts.computeIfAbsent(PATHS, key -> new StageCounts()).add(engine.entry);
        counts.computeIfAbsent(GONE, key -> new StageCounts()).add(engine.retired);
        for (Stage stage : engine.chain().stages()) {
            if (!stage.abandoned) {
                counts.computeIfAbsent(stage.spec.name(), key -> new StageCounts())
                        .add(stage.counts);
            }
        }
    }

    /** Returns the name under which counts of a handler are shown. */
    static String nameOf(String counts, Plan plan) {
        return counts.equals(PATHS) || plan.stage(counts) >= 0 ? counts : GONE;
    }

    Map<String, Object> tree(Balance ended, Map<String, StageCounts> endedCounts) {
        Map<String, Object> tree = new LinkedHashMap<>();
        Balance messages = Balance.of(engines).plus(ended);
        tree.put("service", service);
        tree.put("generation", generation);
        tree.put("plan", plan.tree());
        tree.put("handlers", handlers(endedCounts));
        tree.put("contexts", contexts());
        tree.put("formats", formats());
        tree.put("order", plan.order());
        tree.put("notes", plan.notes());
        tree.put("admission", plan.admission());
        tree.put("messages", messages.tree());
        tree.put("conservation", messages.toString());
        tree.put("instances", instances());
        return tree;
    }

    private List<Map<String, Object>> handlers(Map<String, StageCounts> endedCounts) {
        Map<String, StageCounts> counts = new LinkedHashMap<>();
        endedCounts.forEach((name, count) -> {
            counts.computeIfAbsent(nameOf(name, plan), key -> new StageCounts()).add(count);
        });
        engines.forEach(engine -> addCounts(engine, counts));
        List<Map<String, Object>> rows = new ArrayList<>();
        rows.add(row(PATHS, counts.getOrDefault(PATHS, new StageCounts())));
        for (StageSpec spec : plan.stages()) {
            Map<String, Object> row = row(spec.name(), counts.getOrDefault(spec.name(), new StageCounts()));
            row.put("kind", spec.kind());
            row.put("context", plan.contexts().get(spec.context()).name());
            row.put(
                    "then",
                    spec.next().stream()
                            .map(port -> port.stream().map(plan::nameOf).toList())
                            .toList());
            row.put("failure", spec.passesFailed() ? "pass" : "drop");
            rows.add(row);
        }
        rows.add(row(GONE, counts.getOrDefault(GONE, new StageCounts())));
        return rows;
    }

    private static Map<String, Object> row(String name, StageCounts counts) {
        Map<String, Object> row = new LinkedHashMap<>();
        row.put("handler", name);
        row.put("in", counts.in.get());
        row.put("made", counts.made.get());
        row.put("out", counts.out.get());
        row.put("dropped", counts.dropped.get());
        row.put("merged", counts.merged.get());
        row.put("held", counts.held.get());
        row.put("failed", counts.failed.get());
        row.put("droppedBy", counts.droppedBy());
        row.put("lastFailure", counts.lastFailure);
        row.put("heldBytes", counts.heldBytes.get());
        row.put("nsPerMessage", counts.nsPerMessage.get());
        return row;
    }

    private List<Map<String, Object>> contexts() {
        List<Map<String, Object>> rows = new ArrayList<>();
        for (ContextSpec spec : plan.contexts()) {
            long filled = 0;
            long queued = 0;
            long waits = 0;
            long waitNs = 0;
            List<String> stalled = new ArrayList<>();
            for (Engine engine : engines) {
                for (Context context : engine.chain().contexts()) {
                    if (!context.spec.name().equals(spec.name())) {
                        continue;
                    }
                    waits += context.waits.get();
                    waitNs += context.waitNs.get();
                    for (Ring ring : context.inputs) {
                        filled += ring.filled();
                        queued += ring.queued();
                    }
                    long busySinceNs = context.busySinceNs();
                    if (busySinceNs != 0 && nowNs - busySinceNs > STALLED_NS && stalled.size() < MAX_INSTANCES) {
                        stalled.add(engine.name() + " in " + context.currentStage() + " for "
                                + Math.round((nowNs - busySinceNs) / NS_PER_MS) + " ms");
                    }
                }
            }
            Map<String, Object> row = new LinkedHashMap<>();
            row.put("context", spec.name());
            row.put("ringBytes", spec.ringBytes());
            row.put("filledBytes", filled);
            row.put("queued", queued);
            row.put("waits", waits);
            row.put("waitMs", Math.round(waitNs / NS_PER_MS));
            row.put("stalled", stalled);
            rows.add(row);
        }
        return rows;
    }

    private List<Map<String, Object>> formats() {
        Set<PathTable.Row> rows = new LinkedHashSet<>(plan.table().rows());
        for (Engine engine : engines) {
            Chain chain = engine.chain();
            if (chain.plan == plan) {
                for (Stage stage : chain.stages()) {
                    for (Row row : stage.rows()) {
                        Bound bound = row.bound;
                        if (bound != null && rows.size() < MAX_ROWS) {
                            List<Format> outputs = new ArrayList<>();
                            for (int port = 0; port < stage.spec.next().size(); port++) {
                                outputs.add(bound.output(port));
                            }
                            rows.add(PathTable.row(plan, stage.number, row.format, row.converted(), outputs));
                        }
                    }
                }
            }
        }
        return new PathTable(List.copyOf(rows)).tree();
    }

    private List<Map<String, Object>> instances() {
        List<Map<String, Object>> rows = new ArrayList<>();
        for (Engine engine : engines.subList(0, Math.min(MAX_INSTANCES, engines.size()))) {
            Map<String, Object> row = new LinkedHashMap<>();
            row.put("instance", engine.name());
            row.put("generation", engine.chain().generation);
            row.put("changing", engine.isChanging());
            row.put("problem", engine.lastProblem());
            rows.add(row);
        }
        return rows;
    }
}
