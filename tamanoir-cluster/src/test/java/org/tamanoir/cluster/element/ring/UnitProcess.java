package org.tamanoir.cluster.element.ring;

import java.io.IOException;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Unit 2 as a process of its own, which passes tokens until its input ends. */
final class UnitProcess {
    private UnitProcess() {}

    static Process start(RingSettings settings) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                UnitProcess.class.getName()));
        for (int unit = 0; unit < 3; unit++) {
            command.add(port(settings.units().get(unit)));
        }
        command.add(port(settings.distributor()));
        return new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start();
    }

    private static String port(@Nullable InetSocketAddress address) {
        return Integer.toString(Objects.requireNonNull(address).getPort());
    }

    public static void main(String[] ports) throws IOException {
        int[] numbers = Stream.of(ports).mapToInt(Integer::parseInt).toArray();
        try (TokenRing ring = new TokenRing(TokenRingTest.settings(numbers), 2)) {
            ring.start(new Runner(2, ring));
            System.in.transferTo(OutputStream.nullOutputStream());
        }
    }
}
