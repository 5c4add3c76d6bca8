package org.tamanoir.cluster;

import java.util.List;
import org.tamanoir.cluster.config.CodeSources;
import org.tamanoir.cluster.config.Welcome;
import org.tamanoir.deploy.SigningKey;

/** What directors of tests say. */
final class Welcomes {
    static final String KEY = SigningKey.generate().publisher().pem();
    static final Welcome.Served SERVED =
            new Welcome.Served("video", "10.9.0.1", 3322, 3322, List.of("tcp", "udp"), "direct");
    static final Welcome.Code CODE = new Welcome.Code(
            List.of("http://10.9.0.2:8080"),
            List.of(new CodeSources.Publisher(KEY, List.of("org.example.*"))),
            List.of("org.example.Shout"));
    static final Welcome FULL = new Welcome("dir-1", "video", "joining", 7, 200, List.of(SERVED), CODE);

    private Welcomes() {}

    static Welcome in(String state) {
        return new Welcome("dir-1", "video", state, 7, 200, List.of(SERVED), CODE);
    }

    static Welcome with(List<Welcome.Served> services, Welcome.Code code) {
        return new Welcome("dir-1", "video", "up", 7, 200, services, code);
    }

    static Welcome.Code deploying(String... services) {
        return new Welcome.Code(CODE.repositories(), CODE.publishers(), List.of(services));
    }
}
