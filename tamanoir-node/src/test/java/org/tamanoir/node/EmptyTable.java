package org.tamanoir.node;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.tamanoir.cluster.lvs.ClusterException;
import org.tamanoir.cluster.lvs.Ipvs;

/**
 * A host whose kernel has an empty table, for tests where there is no IPVS: a program in the place of ipvsadm 1.31 that
 * lists nothing and changes nothing. One at a time.
 */
public final class EmptyTable implements AutoCloseable {
    private static final String PROGRAM = "tamanoir.ipvsadm";

    public EmptyTable(Path folder) throws IOException {
        Path program = Files.writeString(folder.resolve("ipvsadm"), """
                #!/bin/sh
                case "$1" in
                --version) echo "ipvsadm v1.31 2019/12/24 (compiled with popt and IPVS v1.2.1)" ;;
                --save) ;;
                -L) echo "IP Virtual Server version 1.2.1 (size=4096)"
                    echo "Prot LocalAddress:Port            Uthreshold Lthreshold ActiveConn InActConn "
                    echo "  -> RemoteAddress:Port" ;;
                *) echo "not for changes" >&2; exit 2 ;;
                esac
                """);
        Files.setPosixFilePermissions(program, PosixFilePermissions.fromString("rwx------"));
        System.setProperty(PROGRAM, program.toString());
    }

    public Ipvs open() throws ClusterException {
        return Ipvs.open();
    }

    @Override
    public void close() {
        System.clearProperty(PROGRAM);
    }
}
