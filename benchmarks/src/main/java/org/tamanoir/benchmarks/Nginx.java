package org.tamanoir.benchmarks;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Runs nginx as a forwarder, which its stream module makes of it. Stateless; any thread. */
final class Nginx {
    private static final String STREAM = "--with-stream";

    private Nginx() {}

    /** Returns the forwarder; where nginx has no stream module it says so. */
    static Forwarder forwarder(int maxStreams) {
        String load = streamModule(Peers.firstLine("nginx", "-V", "configure arguments:"));
        String missing = Peers.missing("nginx", "nginx and libnginx-mod-stream");
        if (missing == null && load == null) {
            missing = "nginx has no stream module: install the Debian package libnginx-mod-stream";
        }
        return new Forwarder(
                "nginx",
                EnumSet.allOf(Transport.class),
                Peers.firstLine("nginx", "-v") + "; stream, worker_processes 1, default proxy_buffer_size 16k",
                missing,
                (port, sinkPort, transport, folder) -> {
                    // UDP: without proxy_responses all datagrams of a flow stay in one session; with 0 nginx
                    // would open a socket for each datagram.
                    String text = """
                            %sworker_processes 1;
                            worker_rlimit_nofile %d;
                            daemon off;
                            pid %s/nginx.pid;
                            error_log %s/nginx-error.log warn;
                            events { worker_connections %d; }
                            stream {
                              server {
                                listen 127.0.0.1:%d%s;
                                proxy_pass 127.0.0.1:%d;
                                proxy_timeout 60s;
                              }
                            }
                            """.formatted(
                                    load,
                                    2 * maxStreams + 100,
                                    folder,
                                    folder,
                                    2 * maxStreams + 50,
                                    port,
                                    transport == Transport.UDP ? " udp" : " backlog=4096",
                                    sinkPort);
                    String log = folder.resolve("nginx-error.log").toString();
                    return List.of(
                            "nginx", "-p", folder.toString(), "-e", log, "-c", Peers.write(folder, "nginx.conf", text));
                });
    }

    /**
     * Returns the line of a configuration that loads the stream module, empty where it is built in, null where there is
     * none: one that was built as a file of its own may not be installed.
     *
     * @param arguments what nginx was configured with, as {@code nginx -V} prints it
     */
    static @Nullable String streamModule(String arguments) {
        List<String> words = List.of(arguments.split("\\s+"));
        if (words.contains(STREAM)) {
            return "";
        }
        String prefix = value(words, "--prefix=", "/usr/local/nginx");
        Path file = Path.of(value(words, "--modules-path=", prefix + "/modules"), "ngx_stream_module.so");
        return words.contains(STREAM + "=dynamic") && Files.exists(file) ? "load_module " + file + ";\n" : null;
    }

    private static String value(List<String> words, String option, String usual) {
        return words.stream()
                .filter(word -> word.startsWith(option))
                .map(word -> word.substring(option.length()))
                .findFirst()
                .orElse(usual);
    }
}
