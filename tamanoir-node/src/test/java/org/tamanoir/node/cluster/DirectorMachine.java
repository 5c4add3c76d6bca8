package org.tamanoir.node.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.tamanoir.node.Programs;
import org.tamanoir.support.SecretFile;
import tools.jackson.databind.JsonNode;

/** A machine with a director: a process of its own, or its commands within this one. One thread. */
final class DirectorMachine {
    private static final String API = "http://127.0.0.1:3325";
    static final String TOKEN = "the-token-of-this-test";
    private static final String NODES_TOKEN = "the-token-of-its-nodes";

    final Machine machine;
    private final String name;
    private final Path folder;
    private @Nullable Running process;
    private @Nullable Process keepalived;

    DirectorMachine(Machine machine, String name) {
        this.machine = machine;
        this.name = name;
        try {
            folder = Files.createTempDirectory("director-" + name);
            SecretFile.write(adminTokenFile(), TOKEN + "\n");
            SecretFile.write(tokenFile(), NODES_TOKEN + "\n");
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    /** The token of operators. */
    Path adminTokenFile() {
        return folder.resolve("admin.token");
    }

    /** The token of registration. */
    Path tokenFile() {
        return folder.resolve("nodes.token");
    }

    /** Writes a configuration with name, state folder, API and registration beside this. */
    void config(String yaml) {
        String text = """
                name: %s
                state: %s
                admin: {listen: "*:3325", token-file: %s, plain: allowed}
                registration: {token-file: %s, networks: [10.88.0.0/24], interval: 2s, plain: true}
                """.formatted(name, folder.resolve("state"), adminTokenFile(), tokenFile())
                + yaml.replace(
                        "KEY", ExampleService.key(ClusterArchive.folder()).toString());
        try {
            Files.writeString(file(), text);
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    private Path file() {
        return folder.resolve("director.yaml");
    }

    /** Starts it; does not wait. */
    void start() {
        process =
                new Running(machine, "director-" + name, List.of("director", "--json", "--config", file().toString()));
    }

    /** Waits until it says that it has started. */
    void awaitStarted() {
        process().awaitSaid("\"started\"");
    }

    /** Waits until the table is as wanted and so many back-ends take streams. */
    void awaitUp(int backEnds) {
        Running running = process();
        awaitStarted();
        ClusterBed.eventually()
                .atMost(ClusterBed.START)
                .ignoreExceptionsMatching(e -> running.isAlive()) // its API is not there at first
                .untilAsserted(() -> {
                    assertThat(running.isAlive()).as(running.said()).isTrue();
                    JsonNode status = status();
                    assertThat(status.get("ready").asBoolean()).as("%s", status).isTrue();
                    assertThat(states().values().stream().filter("up"::equals))
                            .as("%s", status)
                            .hasSize(backEnds);
                    assertThat(table().lines().filter(line -> line.contains(" -r ") && !line.contains(" -w 0")))
                            .hasSize(backEnds * ClusterBed.VIRTUAL_SERVICES);
                });
    }

    Running process() {
        Running running = process;
        if (running == null) {
            throw new IllegalStateException("director " + name + " was not started");
        }
        return running;
    }

    /** Ends it in order, if it runs. */
    void stop() {
        Running running = process;
        if (running != null) {
            running.stop();
        }
    }

    JsonNode status() {
        return ask("/v1/status");
    }

    JsonNode ask(String path) {
        return machine.ask(API + path);
    }

    /** States of back-ends by name. */
    Map<String, String> states() {
        Map<String, String> states = new TreeMap<>();
        for (JsonNode backEnd : status().get("backEnds")) {
            states.put(backEnd.get("name").asString(), backEnd.get("state").asString());
        }
        return states;
    }

    /** Waits until a back-end is in this state. */
    void awaitState(String backEnd, String state) {
        ClusterBed.eventually().until(() -> state.equals(states().get(backEnd)));
    }

    /** Changes something by the API, with the token. */
    void post(String path, String body) {
        machine.in(() -> Machine.request("POST", API + path, TOKEN, body));
    }

    /** The kernel's table, as {@code ipvsadm --restore} takes it. */
    String table() {
        return machine.run("ipvsadm --save -n");
    }

    /** Waits until a back-end has weight 0 in the kernel's table in all services, or is not in it. */
    void awaitWeights(String backEnd, boolean inTable) {
        ClusterBed.eventually().until(() -> {
            List<String> lines = table().lines()
                    .filter(line -> line.contains(" -r " + backEnd + ":"))
                    .toList();
            return inTable
                    ? !lines.isEmpty() && lines.stream().allMatch(line -> line.contains(" -w 0"))
                    : lines.isEmpty();
        });
    }

    /**
     * Connections that a virtual service of TCP has been given since it is there, and their packets. Waits until the
     * kernel's estimator, which does so every two seconds, has gathered what the processors counted before.
     */
    long[] counted(String address) {
        machine.run("sleep 2.5");
        String[] words = machine.run("ipvsadm -L -n --stats --exact -t " + address + ":" + ClusterBed.PORT)
                .lines()
                .filter(line -> line.startsWith("TCP"))
                .findAny()
                .orElseThrow()
                .trim()
                .split("\\s+");
        return new long[] {Long.parseLong(words[2]), Long.parseLong(words[3])};
    }

    /** Established connections of a virtual service of TCP to a back-end. */
    long active(String address, String backEnd) {
        String[] words = machine.run("ipvsadm -L -n -t " + address + ":" + ClusterBed.PORT)
                .lines()
                .filter(line -> line.contains("> " + backEnd + ":"))
                .findAny()
                .orElseThrow()
                .trim()
                .split("\\s+");
        return Long.parseLong(words[4]);
    }

    /** Runs a command of the program on this machine, in this process, with the configuration. */
    Machine.Ended command(String... words) {
        return machine.in(() -> {
            StringWriter said = new StringWriter();
            List<String> all = new ArrayList<>(List.of("director"));
            all.addAll(List.of(words));
            all.addAll(List.of("--config", file().toString()));
            int code = Programs.run(new PrintWriter(said, true), all.toArray(String[]::new));
            return new Machine.Ended(code, said.toString(), "");
        });
    }

    boolean hasKeepalived() {
        return Files.isExecutable(Path.of("/usr/sbin/keepalived"));
    }

    /** Has the program write keepalived's configuration, and starts it with that. */
    void startKeepalived() {
        Path config = folder.resolve("keepalived.conf");
        Machine.Ended written = command("keepalived", "--output", config.toString());
        assertThat(written.code()).as(written.out()).isZero();
        List<String> run = new ArrayList<>(List.of("/usr/sbin/keepalived", "--dont-fork", "--log-console", "--vrrp"));
        run.add("--use-file=" + config);
        run.add("--pid=" + folder.resolve("keepalived.pid"));
        run.add("--vrrp_pid=" + folder.resolve("vrrp.pid"));
        try {
            keepalived = machine.builder(run)
                    .redirectErrorStream(true)
                    .redirectOutput(Running.output("keepalived-" + name).toFile())
                    .start();
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    /** Established connections to a virtual address that the kernel knows. */
    long established(String address) {
        return machine.run("ipvsadm -L -n -c")
                .lines()
                .filter(line -> line.contains("ESTABLISHED") && line.contains(" " + address + ":"))
                .count();
    }

    /** The kernel's sync daemon, and the connections that it knows. */
    String sync() {
        return machine.run("ipvsadm -L --daemon; ipvsadm -L -n -c");
    }

    /** Ends what runs here, at once. */
    void killAll() {
        Running running = process;
        if (running != null) {
            running.kill();
        }
        Process also = keepalived;
        if (also != null) {
            also.descendants().forEach(ProcessHandle::destroyForcibly);
            also.destroyForcibly();
        }
    }
}
