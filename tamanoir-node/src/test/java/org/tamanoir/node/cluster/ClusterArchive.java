package org.tamanoir.node.cluster;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.tamanoir.node.ClassArchive;

/**
 * What {@code native/vm/test --before} makes on the host: an archive of the classes that a node and a director load,
 * which halves the time in which they start under the emulator, and a published service.
 */
public final class ClusterArchive {
    /** Where the folder is, in the guest. */
    static final String VARIABLE = "TAMANOIR_BEFORE";

    private ClusterArchive() {}

    /** The folder that was made before. */
    static Path folder() {
        return Path.of(String.valueOf(System.getenv(VARIABLE)));
    }

    /** Options of a JVM that runs the program with the archive, class path included. */
    static List<String> options() {
        return ClassArchive.options(folder());
    }

    /** Options of both that which makes the archive and those that use it. */
    static List<String> common() {
        return List.of(
                "-Xint", // the emulator translates what a compiler made again, which these short lives do not pay back
                "-XX:+UseSerialGC",
                "-XX:-UsePerfData",
                "-XX:+UnlockDiagnosticVMOptions",
                "-XX:-BytecodeVerificationRemote",
                "-Xmx96m",
                "-Djdk.lang.Process.launchMechanism=VFORK", // no program before the program that is to be started
                "--enable-native-access=ALL-UNNAMED");
    }

    /** Makes it: the folder is the only argument. */
    public static void main(String[] arguments) throws Exception {
        Path folder = Files.createDirectories(Path.of(arguments[0])).toAbsolutePath();
        ExampleService.publish(folder);
        ClassArchive.make(folder, common(), true);
    }
}
