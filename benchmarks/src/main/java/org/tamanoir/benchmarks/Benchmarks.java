package org.tamanoir.benchmarks;

import java.nio.file.FileSystemException;
import java.util.Arrays;
import org.tamanoir.benchmarks.cluster.ClusterExperiments;
import org.tamanoir.benchmarks.cluster.ClusterInGuest;
import org.tamanoir.benchmarks.element.ElementExperiments;
import org.tamanoir.benchmarks.emulate.EmulateExperiments;
import org.tamanoir.benchmarks.fuzz.Fuzz;
import org.tamanoir.benchmarks.levels.LevelExperiments;
import org.tamanoir.benchmarks.morph.MorphExperiments;
import org.tamanoir.benchmarks.qos.QosExperiments;
import org.tamanoir.benchmarks.soak.Soak;
import picocli.CommandLine;
import picocli.CommandLine.Command;

/**
 * The entry of benchmarks.jar: {@code compare} for real processes, {@code deploy} for deployment, {@code qos} for
 * quality of service, {@code levels} for levels below the JVM, {@code cluster} for nodes behind a Linux Virtual Server,
 * {@code fct} for one stream over several nodes, {@code morph} for data morphing, {@code emulate} for arrivals without
 * sockets, {@code control} for what keeps a node alive, {@code reflect} for the reflector, {@code routes}, {@code fib}
 * and {@code destinations} for a full routing table, {@code fec} for forward error correction, {@code wire} for SAPF beside ANEP, {@code soak} for a long
 * run of mixed traffic that is verified, {@code fuzz} for random inputs with a reference, {@code jmh} for what happens
 * in memory.
 */
@Command(
        name = "benchmarks",
        mixinStandardHelpOptions = true,
        description = "Measures Tamanoir. 'jmh' passes all that follows to JMH.",
        subcommands = {
            Compare.class,
            Deploy.class,
            QosExperiments.class,
            LevelExperiments.class,
            ClusterExperiments.class,
            ElementExperiments.class,
            MorphExperiments.class,
            EmulateExperiments.class,
            Reflect.class,
            Routes.class,
            FibFigures.class,
            ControlFigures.class,
            Destinations.class,
            CacheFigures.class,
            FecFigures.class,
            WireFigures.class,
            Soak.class,
            Fuzz.class,
            ClusterInGuest.class
        })
public final class Benchmarks {
    private Benchmarks() {}

    /** Runs one command and exits with its code. */
    public static void main(String[] args) throws Exception {
        if (args.length > 0 && args[0].equals("jmh")) {
            org.openjdk.jmh.Main.main(Arrays.copyOfRange(args, 1, args.length));
            return;
        }
        CommandLine commands = new CommandLine(new Benchmarks())
                .setCaseInsensitiveEnumValuesAllowed(true)
                .setExecutionExceptionHandler(Benchmarks::ended);
        if (args.length == 0) {
            commands.usage(System.err);
            System.exit(CommandLine.ExitCode.USAGE);
        }
        System.exit(commands.execute(args));
    }

    /** Says in one line which file there is not; anything else is a fault of this program, with its trace. */
    private static int ended(Exception failure, CommandLine command, CommandLine.ParseResult parsed) throws Exception {
        if (failure instanceof FileSystemException file) {
            String reason = file.getReason() == null ? "no such file or folder, or no permission" : file.getReason();
            System.err.println(file.getFile() + ": " + reason + "; correct the path");
            return CommandLine.ExitCode.SOFTWARE;
        }
        throw failure;
    }
}
