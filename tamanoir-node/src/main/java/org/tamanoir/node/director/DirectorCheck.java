package org.tamanoir.node.director;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.tamanoir.cluster.config.DirectorConfig;
import org.tamanoir.cluster.lvs.ClusterException;
import org.tamanoir.cluster.lvs.Ipvs;
import org.tamanoir.cluster.lvs.Program;
import org.tamanoir.cluster.setup.HostSetup;
import org.tamanoir.node.cli.ExitCode;
import org.tamanoir.node.cli.Output;

/** {@code director check}: what this host and the back-ends lack. One thread. */
final class DirectorCheck {
    private final DirectorConfig config;
    private final List<Finding> findings = new ArrayList<>();
    private final List<Finding> notes = new ArrayList<>();

    private DirectorCheck(DirectorConfig config) {
        this.config = config;
    }

    /**
     * Something that is missing, or was not looked at.
     *
     * @param where this host, or a back-end
     * @param text one line, with the remedy
     */
    record Finding(String where, String text) {}

    /** Looks, and tells. */
    static int run(DirectorConfig config, Output output) {
        DirectorCheck check = new DirectorCheck(config);
        check.thisHost();
        check.announcing();
        check.backEnds();
        return check.tell(output);
    }

    private void thisHost() {
        try {
            Ipvs.open();
        } catch (ClusterException e) {
            findings.add(new Finding("this host", String.valueOf(e.getMessage())));
        }
        try {
            HostSetup.director(config).findings().forEach(line -> findings.add(new Finding("this host", line)));
        } catch (ClusterException e) {
            findings.add(new Finding("this host", String.valueOf(e.getMessage())));
        }
    }

    /** Addresses of IPv4 that the director puts there itself are announced by a program. */
    private void announcing() {
        if (config.networkInterface() != null && config.vrrp() == null && Program.find("arping") == null) {
            notes.add(
                    new Finding(
                            "this host",
                            "no program arping, by which virtual IPv4 addresses are announced: install the package iputils-arping"));
        }
    }

    private void backEnds() {
        try (DirectorProbe probe = new DirectorProbe(config.tls())) {
            for (DirectorProbe.Answer answer : probe.ask(config.backEnds())) {
                String where = "back-end " + answer.backEnd();
                answer.findings().forEach(line -> findings.add(new Finding(where, line)));
                answer.notes().forEach(line -> notes.add(new Finding(where, line)));
            }
        } catch (ClusterException e) {
            findings.add(new Finding("this host", String.valueOf(e.getMessage())));
        }
    }

    private int tell(Output output) {
        Map<String, Object> event = new LinkedHashMap<>();
        event.put("ok", findings.isEmpty());
        event.put("findings", findings);
        event.put("notes", notes);
        output.json(event);
        findings.forEach(finding -> output.line(finding.where + ": " + finding.text));
        notes.forEach(note -> output.line("note: " + note.where + ": " + note.text));
        if (findings.isEmpty()) {
            output.line("nothing is missing");
        }
        return findings.isEmpty() ? ExitCode.OK : ExitCode.FAILED;
    }
}
