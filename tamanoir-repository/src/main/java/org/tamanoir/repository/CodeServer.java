package org.tamanoir.repository;

import io.vertx.core.Vertx;
import io.vertx.ext.web.Router;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.tamanoir.deploy.Manifest;
import org.tamanoir.tls.TlsFiles;
import org.tamanoir.transport.ListeningSockets;

/**
 * Serves the code that a node runs to other nodes, read-only, in the layout of a repository, and the formats that it
 * knows, in FFS's protocol, to them and to FFS's own programs.
 *
 * <p>Thread contract: any thread.
 */
public final class CodeServer implements AutoCloseable {
    /** Finds the file behind a repository path, {@code keys/...} or {@code services/...}; null when there is none. */
    public interface Code {
        /** Returns the file of a path; called by several threads, may block. */
        @Nullable
        Path file(String path);
    }

    /** Names its socket among those that processes share. */
    public static final String USE = "code server";

    private final HttpListener listener;

    private CodeServer(HttpListener listener) {
        this.listener = listener;
    }

    /**
     * Formats that are served with the code.
     *
     * @param takes whether descriptions are taken from programs of this host
     */
    public record Formats(FormatShelf shelf, boolean takes) {}

    /** Serves code alone. */
    public static CodeServer start(InetSocketAddress address, @Nullable TlsFiles tls, Code files) throws IOException {
        return start(address, tls, files, null);
    }

    /**
     * Serves.
     *
     * @param address port 0 takes a free one
     * @param tls null = plain HTTP
     * @param formats null = none
     * @throws IOException in one line, if it cannot listen
     */
    public static CodeServer start(
            InetSocketAddress address, @Nullable TlsFiles tls, Code files, @Nullable Formats formats)
            throws IOException {
        return start(address, tls, files, formats, ListeningSockets.NONE);
    }

    /** Serves on a socket that may come from another process and go to one, under the name {@value #USE}. */
    public static CodeServer start(
            InetSocketAddress address,
            @Nullable TlsFiles tls,
            Code files,
            @Nullable Formats formats,
            ListeningSockets sockets)
            throws IOException {
        return new CodeServer(HttpListener.start(
                USE,
                address,
                tls,
                nobody -> false,
                vertx -> routes(vertx, path -> file(files, path), formats),
                sockets));
    }

    private static Router routes(Vertx vertx, TreeHandler.Lookup files, @Nullable Formats formats) {
        Router router = Router.router(vertx);
        Answers.install(router);
        Answers.query(router.route(), List.of());
        if (formats != null) {
            FormatHandler.install(router, formats.shelf, formats.takes, null);
        }
        router.route().handler(new TreeHandler(files));
        return router;
    }

    private static @Nullable TreeFile file(Code files, String path) throws IOException {
        Path file = files.file(path);
        if (file == null) {
            return null;
        }
        try {
            boolean key = path.startsWith("keys/");
            if (!path.endsWith(".jar")) {
                String type = path.endsWith(".sig") ? TreeFile.TEXT : TreeFile.JSON;
                return TreeFile.of(file, Disk.read(file, Manifest.MAX_BYTES), !key, type);
            }
            // A jar lies under its digest.
            String name = String.valueOf(file.getFileName());
            return new TreeFile(null, file, Files.size(file), name.replace(".jar", ""), true, TreeFile.JAR);
        } catch (NoSuchFileException e) {
            return null;
        }
    }

    /** Returns where it listens, with the real port. */
    public InetSocketAddress address() {
        return listener.address();
    }

    /** Reads the files of TLS again, as {@link HttpListener#renew} says. */
    public void renew() throws IOException {
        listener.renew();
    }

    /** Accepts no more, as {@link HttpListener#leave} says. */
    public void leave() {
        listener.leave();
    }

    @Override
    public void close() {
        listener.close();
    }
}
