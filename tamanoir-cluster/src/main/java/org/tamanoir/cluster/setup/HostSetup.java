package org.tamanoir.cluster.setup;

import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.tamanoir.cluster.config.DirectorConfig;
import org.tamanoir.cluster.config.Welcome;
import org.tamanoir.cluster.lvs.ClusterException;
import org.tamanoir.cluster.setup.SetupFile.Made;

/**
 * What a host needs to be a back-end or a director: addresses, a tunnel device, settings of the kernel. Each step can be
 * looked at, made and taken back; what was right before is left as it was, also when it is taken back.
 *
 * <p>A change is written down with the former value before it is made, so that a successor of a killed process takes it
 * back.
 *
 * <p>Works on the network namespace of the calling thread. Thread contract: one thread at a time.
 */
public final class HostSetup {
    private static final int CAP_NET_ADMIN = 12;
    private static final String CAPABILITIES = "CapEff:";
    private static final String DIRECTOR_FILE = "host.json";

    private final Demand demand;
    private final SetupFile file;

    private HostSetup(Demand demand, Path stateFile) {
        this.demand = demand;
        this.file = new SetupFile(stateFile);
    }

    /**
     * Returns what a back-end's host needs.
     *
     * @param services of the cluster
     * @param networkInterface that packets come in by; the one that leads to the director
     * @param stateFile where it is written what was changed, so that a killed node's successor can take it back
     * @param directors addresses of theirs on the back-ends' network; where none is known, answers by NAT may go back
     *     through whatever host
     */
    public static HostSetup backEnd(
            List<Welcome.Served> services, String networkInterface, Path stateFile, Collection<InetAddress> directors)
            throws ClusterException {
        return new HostSetup(BackEndDemand.of(services, networkInterface, directors), stateFile);
    }

    /** Returns what a director's host needs: the virtual addresses, forwarding for NAT. */
    public static HostSetup director(DirectorConfig config) throws ClusterException {
        return new HostSetup(DirectorDemand.of(config), config.stateFolder().resolve(DIRECTOR_FILE));
    }

    /** Returns what is missing, one line each with the remedy as a command; empty = all is right. Changes nothing. */
    public List<String> findings() throws ClusterException {
        Host host = Host.look();
        List<String> findings = new ArrayList<>(demand.obstacles().look(host));
        if (findings.isEmpty()) {
            demand.steps().stream()
                    .filter(step -> !step.isDone(host))
                    .map(Step::finding)
                    .forEach(findings::add);
        }
        findings.addAll(demand.advice().look(host));
        return List.copyOf(findings);
    }

    /** Returns all steps as shell commands that root can run, whether they are needed now or not. */
    public List<String> commands() {
        return demand.steps().stream().map(Step::command).toList();
    }

    /**
     * Returns the commands that take it back: to the values that were written down, else to those of now or usual ones.
     */
    public List<String> undoCommands() {
        List<Made> made = madeOrNone();
        List<String> commands = new ArrayList<>();
        for (Step step : demand.steps()) {
            Made known = find(made, step);
            String former = known != null ? known.former() : step.former();
            commands.add(step.undoCommand(known == null && former.equals(step.value()) ? step.usual() : former));
        }
        Collections.reverse(commands);
        return List.copyOf(commands);
    }

    private List<Made> madeOrNone() {
        try {
            return file.read();
        } catch (ClusterException e) {
            return List.of(); // apply and undo tell; these commands are for people
        }
    }

    /**
     * Does what is missing, all or nothing. Takes back what an earlier one with the same state file did and this one does
     * not want.
     *
     * @throws ClusterException if a step fails; those made before it are taken back
     */
    public void apply() throws ClusterException {
        Host host = Host.look();
        List<String> obstacles = demand.obstacles().look(host);
        if (!obstacles.isEmpty()) {
            throw new ClusterException(String.join("; ", obstacles));
        }
        List<Made> before = file.read();
        List<Made> added = new ArrayList<>();
        try {
            for (Step step : demand.steps()) {
                if (!step.isDone(host)) {
                    make(step, before, added);
                    host = step.kind() == Step.Kind.DEVICE
                            ? Host.look()
                            : host; // no other step changes a later one's need
                }
            }
        } catch (ClusterException e) {
            List<Made> left = new ArrayList<>(before);
            left.addAll(takeBack(added, e));
            file.write(left);
            throw e;
        }
        forgetOthers();
    }

    private void make(Step step, List<Made> before, List<Made> added) throws ClusterException {
        if (!isPrivileged()) {
            throw new ClusterException("the host is not set up, and only root or CAP_NET_ADMIN may: " + step.finding());
        }
        if (find(before, step) == null) {
            added.add(new Made(step, step.former()));
            List<Made> all = new ArrayList<>(before);
            all.addAll(added);
            file.write(all);
        }
        step.make();
    }

    private void forgetOthers() throws ClusterException {
        List<Made> all = file.read();
        List<Made> others = all.stream()
                .filter(each -> !demand.steps().contains(each.step()))
                .toList();
        if (!others.isEmpty()) {
            List<Made> left = new ArrayList<>(all);
            left.removeAll(others);
            end(others, left);
        }
    }

    /** Takes back what {@link #apply} did. */
    public void undo() throws ClusterException {
        end(file.read(), List.of());
    }

    /** Takes back, and writes down what is left. */
    private void end(List<Made> made, List<Made> others) throws ClusterException {
        ClusterException failure = new ClusterException("the host is not as it was before");
        List<Made> left = new ArrayList<>(others);
        List<Made> failed = takeBack(made, failure);
        left.addAll(failed);
        file.write(left);
        if (!failed.isEmpty()) {
            String reason = String.valueOf(failure.getSuppressed()[0].getMessage());
            throw new ClusterException(failure.getMessage() + ": " + reason, failure);
        }
    }

    /** Takes steps back in reverse order; returns those that could not be. */
    private static List<Made> takeBack(List<Made> made, ClusterException failure) {
        List<Made> left = new ArrayList<>();
        @Nullable Host host = null; // looked at once, where there is something to look for
        for (int i = made.size() - 1; i >= 0; i--) {
            try {
                host = host == null ? Host.look() : host;
                made.get(i).step().takeBack(made.get(i).former(), host);
            } catch (ClusterException e) {
                failure.addSuppressed(e);
                left.add(0, made.get(i));
            }
        }
        return left;
    }

    private static @Nullable Made find(List<Made> made, Step step) {
        return made.stream()
                .filter(each -> each.step().equals(step))
                .findFirst()
                .orElse(null);
    }

    /** Returns whether this process may do all that: root, or CAP_NET_ADMIN in the namespace's user namespace. */
    public static boolean isPrivileged() {
        try {
            for (String line : Files.readAllLines(Path.of("/proc/thread-self/status"))) {
                if (line.startsWith(CAPABILITIES)) {
                    long effective = Long.parseUnsignedLong(
                            line.substring(CAPABILITIES.length()).strip(), 16);
                    return (effective >>> CAP_NET_ADMIN & 1) == 1;
                }
            }
            return false;
        } catch (IOException e) {
            return false; // not Linux
        }
    }
}
