package org.tamanoir.benchmarks;

import java.util.Arrays;
import org.tamanoir.benchmarks.cluster.ClusterExperiments;
import org.tamanoir.benchmarks.cluster.ClusterInGuest;
import org.tamanoir.benchmarks.cluster.ClusterSink;
import org.tamanoir.benchmarks.cluster.ClusterSource;
import org.tamanoir.benchmarks.levels.Changer;
import org.tamanoir.benchmarks.levels.LevelExperiments;
import org.tamanoir.benchmarks.levels.Relay;
import org.tamanoir.benchmarks.levels.Sink;
import org.tamanoir.benchmarks.levels.Source;
import org.tamanoir.benchmarks.qos.QosExperiments;
import picocli.CommandLine;
import picocli.CommandLine.Command;

/**
 * The entry of benchmarks.jar: {@code compare} for real processes, {@code deploy} for deployment, {@code qos} for
 * quality of service, {@code levels} for levels below the JVM, {@code cluster} for nodes behind a Linux Virtual Server, {@code jmh} for what happens in memory.
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
            ClusterInGuest.class,
            ClusterSource.class,
            ClusterSink.class,
            Source.class,
            Sink.class,
            Relay.class,
            Changer.class,
            TcpSink.class,
            TcpSender.class,
            PacedSender.class,
            StreamSink.class,
            StreamSender.class,
            UdpSink.class,
            UdpFlood.class,
            NettyProxy.class
        })
public final class Benchmarks {
    private Benchmarks() {}

    /** Runs one command and exits with its code. */
    public static void main(String[] args) throws Exception {
        if (args.length > 0 && args[0].equals("jmh")) {
            org.openjdk.jmh.Main.main(Arrays.copyOfRange(args, 1, args.length));
            return;
        }
        CommandLine commands = new CommandLine(new Benchmarks());
        if (args.length == 0) {
            commands.usage(System.err);
            System.exit(CommandLine.ExitCode.USAGE);
        }
        System.exit(commands.execute(args));
    }
}
