package org.tamanoir.repository;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/** A repository as a process of its own, to be killed. Prints its port; lives until its input ends. */
final class ChildServer {
    private ChildServer() {}

    /** @param args the root */
    public static void main(String[] args) throws IOException {
        TestRepository repository = TestRepository.start(Path.of(args[0]));
        System.out.println(repository.server.address().getPort());
        System.in.transferTo(java.io.OutputStream.nullOutputStream());
        repository.close();
    }

    static Process start(Path root) throws IOException {
        return new ProcessBuilder(List.of(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xshare:auto",
                        "-XX:TieredStopAtLevel=1",
                        "-cp",
                        System.getProperty("java.class.path"),
                        ChildServer.class.getName(),
                        root.toString()))
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
    }
}
