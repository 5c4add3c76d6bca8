package org.tamanoir.cluster;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.tamanoir.cluster.config.DirectorConfig;
import org.tamanoir.cluster.lvs.ClusterException;
import org.tamanoir.cluster.lvs.Ipvs;
import org.tamanoir.cluster.lvs.LvsTable;
import org.tamanoir.cluster.lvs.Ownership;
import org.tamanoir.cluster.lvs.Plan;
import org.tamanoir.platform.Causes;

/**
 * What a director knows: the back-ends, the services to deploy, what of the kernel is its own, and all of that in its
 * state folder, which it holds as long as it is open.
 *
 * <p>Thread contract: none, its owner guards it.
 */
final class DirectorMemory implements AutoCloseable {
    static final LvsTable NOTHING = LvsTable.of(Set.of());

    private final Ownership ownership;
    private final TableKeeper keeper;
    private final StateFile file;
    private final Roster roster;
    private final DeployedServices deployed;
    /** Settings of the kernel as they were before a director changed them. */
    private final Map<String, String> settings;

    private DirectorMemory(
            Ownership ownership, TableKeeper keeper, StateFile file, Roster roster, DeployedServices deployed) {
        this.ownership = ownership;
        this.keeper = keeper;
        this.file = file;
        this.roster = roster;
        this.deployed = deployed;
        settings = new TreeMap<>(file.saved().settings());
    }

    /** Takes the state folder and reads what it and the kernel say. */
    static DirectorMemory open(DirectorConfig config, Ipvs ipvs) throws ClusterException {
        Path folder = config.stateFolder();
        try {
            Files.createDirectories(folder);
        } catch (IOException e) {
            throw new ClusterException(
                    "state folder " + folder + " cannot be made (" + Causes.text(e) + "): name another in 'state'", e);
        }
        Ownership ownership = Ownership.open(folder);
        try {
            StateFile file = StateFile.open(folder);
            TableKeeper keeper = new TableKeeper(ipvs, ownership);
            Roster roster =
                    new Roster(config, file.saved(), Roster.weights(keeper.owned()), System.nanoTime(), Instant.now());
            DeployedServices deployed =
                    new DeployedServices(config.code().services(), file.saved().services());
            return new DirectorMemory(ownership, keeper, file, roster, deployed);
        } catch (ClusterException | RuntimeException e) {
            ownership.close();
            throw e;
        }
    }

    Roster roster() {
        return roster;
    }

    DeployedServices deployed() {
        return deployed;
    }

    TableKeeper keeper() {
        return keeper;
    }

    /** Returns whether a director has been here, in this boot. */
    boolean ownsAny() {
        return !ownership.owned().isEmpty();
    }

    /** Writes what has changed. */
    void save() throws ClusterException {
        file.save(new DirectorState(
                DirectorState.FORMAT, roster.registered(), roster.drains(), deployed.told(), settings));
    }

    /** Sets the kernel's settings, and writes down before what they were. */
    void set(Map<String, String> wanted) throws ClusterException {
        settings.putAll(keeper.differing(wanted));
        save();
        keeper.set(wanted);
    }

    /** Removes all that is its own: virtual services, then addresses, then settings. */
    Plan takeBack(HostSide host) throws ClusterException {
        Plan plan = keeper.bring(NOTHING);
        host.undo();
        keeper.set(settings);
        settings.clear();
        save();
        return plan;
    }

    @Override
    public void close() {
        ownership.close();
    }
}
