package org.tamanoir.node;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.tamanoir.cluster.lvs.ClusterException;
import org.tamanoir.cluster.lvs.Ipvs;

/**
 * A host whose kernel has a table of virtual services without back-ends, for tests where there is no IPVS: a program in
 * the place of ipvsadm 1.31 that remembers services that are added, and how often it runs. One at a time.
 */
public final class SmallTable implements AutoCloseable {
    private static final String PROGRAM = "tamanoir.ipvsadm";

    private final Path runs;

    public SmallTable(Path folder) throws IOException {
        runs = Files.createFile(folder.resolve("runs"));
        Path table = Files.createFile(folder.resolve("table"));
        Path program = Files.writeString(
                folder.resolve("ipvsadm"), """
                #!/bin/sh
                echo "$*" >> RUNS
                case "$1" in
                --version) echo "ipvsadm v1.31 2019/12/24 (compiled with popt and IPVS v1.2.1)" ;;
                --save) /bin/cat TABLE ;;
                --restore) /bin/cat >> TABLE ;;
                -L) echo "IP Virtual Server version 1.2.1 (size=4096)"
                    echo "Prot LocalAddress:Port"
                    echo "  -> RemoteAddress:Port"
                    case "$3" in
                    --stats | --rate) numbers="0 0 0 0 0" ;;
                    *) numbers=wlc ;;
                    esac
                    while read add protocol at rest; do
                        case "$protocol" in
                        -t) echo "TCP $at $numbers" ;;
                        -u) echo "UDP $at $numbers" ;;
                        esac
                    done < TABLE ;;
                *) exit 2 ;;
                esac
                """.replace("RUNS", runs.toString()).replace("TABLE", table.toString()));
        Files.setPosixFilePermissions(program, PosixFilePermissions.fromString("rwx------"));
        System.setProperty(PROGRAM, program.toString());
    }

    public Ipvs open() throws ClusterException {
        return Ipvs.open();
    }

    /** The arguments of each run so far. */
    public List<String> runs() throws IOException {
        return Files.readAllLines(runs);
    }

    @Override
    public void close() {
        System.clearProperty(PROGRAM);
    }
}
