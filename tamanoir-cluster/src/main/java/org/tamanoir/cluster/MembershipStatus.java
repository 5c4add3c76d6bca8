package org.tamanoir.cluster;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.tamanoir.cluster.config.Welcome;

/**
 * What a node knows as a back-end; the answer of its {@code GET /v1/cluster}, JSON.
 *
 * @param name of this back-end
 * @param leaving whether it takes its leave
 * @param services of the cluster that it serves
 * @param wanted services that every node is to deploy, by name
 * @param problems what an operator has to know, one line each, the host's findings included
 */
public record MembershipStatus(
        String name,
        boolean leaving,
        List<DirectorLink> directors,
        List<Welcome.Served> services,
        HostState setUp,
        List<Wanted> wanted,
        Code code,
        List<String> problems) {
    /**
     * A director, as the node sees it.
     *
     * @param name as it calls itself; null = it has not answered yet
     * @param state label of {@link BackEndState}, or {@code asked}, {@code refused}, {@code unreachable}
     * @param since when the state began, ISO 8601
     * @param connections of this back-end that the director's kernel still had at the last answer
     */
    public record DirectorLink(
            String url,
            @Nullable String name,
            String state,
            String since,
            long connections,
            @Nullable String problem) {}

    /**
     * What the host needs.
     *
     * @param mode auto, print or off
     * @param networkInterface null = not known yet
     * @param applied whether the node did it
     * @param findings what is missing, with the remedy
     * @param commands all steps, for a shell of root
     * @param undoCommands those that take it back
     */
    public record HostState(
            String mode,
            @Nullable String networkInterface,
            boolean applied,
            List<String> findings,
            List<String> commands,
            List<String> undoCommands) {
        public HostState {
            findings = List.copyOf(findings);
            commands = List.copyOf(commands);
            undoCommands = List.copyOf(undoCommands);
        }
    }

    /**
     * A service that every node is to deploy.
     *
     * @param deployed {@code name:version}; null = not yet
     * @param problem why not, one line
     */
    public record Wanted(
            String service,
            @Nullable String deployed,
            @Nullable String problem) {}

    /**
     * Where services come from by the cluster's word.
     *
     * @param publishers ids of their keys
     * @param remembered whether no director had answered when the node started: these are from the time before
     */
    public record Code(List<String> repositories, List<String> publishers, boolean remembered) {
        public Code {
            repositories = List.copyOf(repositories);
            publishers = List.copyOf(publishers);
        }
    }

    public MembershipStatus {
        directors = List.copyOf(directors);
        services = List.copyOf(services);
        wanted = List.copyOf(wanted);
        problems = List.copyOf(problems);
    }
}
