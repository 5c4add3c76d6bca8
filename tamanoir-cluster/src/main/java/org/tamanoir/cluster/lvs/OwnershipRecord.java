package org.tamanoir.cluster.lvs;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.tamanoir.deploy.SmallFile;
import org.tamanoir.platform.Causes;

/**
 * The file of an {@link Ownership}:
 *
 * <pre>
 *   tamanoir virtual services 1
 *   boot 0e6c39ad-6a32-4f9b-a6a7-9ea5f2a9c0a4
 *   namespace 4026531840
 *   tcp 10.0.0.1:3322
 *   udp [fd00::1]:3322
 *   end
 * </pre>
 *
 * It is replaced as a whole: a reader sees the old one or the new one.
 */
final class OwnershipRecord {
    static final String FILE = "ipvs-services";

    private static final String HEADER = "tamanoir virtual services 1";
    private static final String END = "end";
    private static final long LIMIT_BYTES = 1 << 20;
    private static final Path BOOT = Path.of("/proc/sys/kernel/random/boot_id");
    private static final Path NAMESPACE = Path.of("/proc/thread-self/ns/net");

    /**
     * What a table of virtual services lives and dies with.
     *
     * @param boot of the kernel
     * @param namespace inode of the network namespace
     */
    record Place(String boot, String namespace) {}

    private OwnershipRecord() {}

    /** Returns that of the calling thread. */
    static Place here() throws ClusterException {
        try {
            return new Place(ProcFile.read(BOOT), String.valueOf(Files.getAttribute(NAMESPACE, "unix:ino")));
        } catch (IOException e) {
            throw new ClusterException(
                    "cannot tell boot and network namespace: " + Causes.text(e) + ": /proc must be mounted", e);
        }
    }

    /**
     * Reads it; nothing where there is none, or that of another place.
     *
     * @throws ClusterException if something else is there
     */
    static Set<VirtualAddress> read(Path folder, Place here) throws ClusterException {
        Path file = folder.resolve(FILE);
        List<String> lines;
        try {
            lines = new String(SmallFile.read(file, LIMIT_BYTES), StandardCharsets.UTF_8)
                    .lines()
                    .toList();
        } catch (SmallFile.TooLargeException e) {
            throw broken(file, "more than " + LIMIT_BYTES + " bytes");
        } catch (NoSuchFileException e) {
            return Set.of();
        } catch (IOException e) {
            throw new ClusterException("cannot read " + file + ": " + Causes.text(e), e);
        }
        if (lines.size() < 4
                || !lines.get(0).equals(HEADER)
                || !lines.get(1).startsWith("boot ")
                || !lines.get(2).startsWith("namespace ")
                || !lines.get(lines.size() - 1).equals(END)) {
            throw broken(file, "it does not have the four lines of one");
        }
        Set<VirtualAddress> services = new TreeSet<>();
        for (String line : lines.subList(3, lines.size() - 1)) {
            try {
                services.add(service(line));
            } catch (IllegalArgumentException e) {
                throw broken(file, "'" + line + "': " + e.getMessage());
            }
        }
        Place place =
                new Place(lines.get(1).substring("boot ".length()), lines.get(2).substring("namespace ".length()));
        return place.equals(here) ? services : Set.of();
    }

    private static VirtualAddress service(String line) {
        int space = line.indexOf(' ');
        if (space < 0) {
            throw new IllegalArgumentException("no protocol and address");
        }
        String endpoint = line.substring(space + 1);
        return new VirtualAddress(
                Protocol.of(line.substring(0, space)), LvsText.addressOf(endpoint), LvsText.portOf(endpoint));
    }

    private static ClusterException broken(Path file, String why) {
        return new ClusterException(file + " is not a record of virtual services (" + why
                + "): remove it, and the services that it named (ipvsadm -L -n), which are taken for another's then");
    }

    /** Writes it: whole and on the disk, or not at all. */
    static void write(Path folder, Place place, Set<VirtualAddress> services) throws ClusterException {
        StringBuilder text = new StringBuilder(HEADER)
                .append("\nboot ")
                .append(place.boot())
                .append("\nnamespace ")
                .append(place.namespace())
                .append('\n');
        services.forEach(at -> text.append(at).append('\n'));
        text.append(END).append('\n');
        Path file = folder.resolve(FILE);
        try {
            SmallFile.replace(file, text.toString().getBytes(StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new ClusterException("cannot write " + file + ": " + Causes.text(e), e);
        }
    }
}
