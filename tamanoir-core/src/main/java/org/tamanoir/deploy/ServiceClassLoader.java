package org.tamanoir.deploy;

import java.io.ByteArrayInputStream;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.net.MalformedURLException;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.URL;
import java.net.URLConnection;
import java.net.URLDecoder;
import java.net.URLStreamHandler;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.Enumeration;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.preemption.CheckpointPolicy;
import org.tamanoir.preemption.Checkpoints;
import org.tamanoir.preemption.UnfitClassException;
import org.tamanoir.service.Service;

/**
 * Defines the classes of one service version from a jar in memory. They see, in this order: {@code java.*} of the
 * JDK, {@code org.tamanoir.service}, {@code org.tamanoir.anep}, {@code org.tamanoir.nodeos}, {@code org.tamanoir.format},
 * {@code org.tamanoir.message}, {@code org.tamanoir.icmp} and {@code org.tamanoir.rtp} of the node, their own jar, the
 * rest of the JDK. Resources come from the jar alone. Classes of the jar get {@linkplain Checkpoints checkpoints} as they are defined;
 * what was verified is the jar before that.
 *
 * <p>This keeps libraries of node and services apart; it is no fence against hostile code, which can ask any class
 * of the node for its loader.
 *
 * <p>Thread contract: any thread.
 */
final class ServiceClassLoader extends ClassLoader {
    private static final ClassLoader NODE = Objects.requireNonNull(Service.class.getClassLoader());
    private static final String PROTOCOL = "tamanoir";
    private static final String SEPARATOR = "!/";

    static {
        registerAsParallelCapable();
    }

    private static final Logger LOG = LoggerFactory.getLogger(ServiceClassLoader.class);

    private final String label;
    private final CheckpointPolicy checkpoints;
    private volatile @Nullable JarContents jar;

    /** Makes a loader of a jar's classes. @param label {@code name:version}: stack traces show it */
    ServiceClassLoader(String label, JarContents jar, CheckpointPolicy checkpoints) {
        super(label, ClassLoader.getPlatformClassLoader());
        this.label = label;
        this.checkpoints = checkpoints;
        this.jar = jar;
    }

    /** Returns whether a class of this name is always the node's, though the jar may have one of its own. */
    static boolean isOfNode(String className) {
        return className.startsWith("org.tamanoir.service.")
                || className.startsWith("org.tamanoir.anep.")
                || className.startsWith("org.tamanoir.nodeos.")
                || className.startsWith("org.tamanoir.format.")
                || className.startsWith("org.tamanoir.message.")
                || className.startsWith("org.tamanoir.icmp.")
                || className.startsWith("org.tamanoir.rtp.");
    }

    /** Returns whether a class of the jar is ever defined, by its entry's name. */
    static boolean defines(String entry) {
        return !entry.startsWith("java/") && !isOfNode(entry.replace('/', '.'));
    }

    /** Defines no more classes, and gives the memory of the jar free. */
    void close() {
        jar = null;
    }

    /** Returns whether this loader, not another of the same name, has defined the class. */
    boolean hasDefined(String className) {
        Class<?> type = findLoadedClass(className);
        return type != null && type.getClassLoader() == this;
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        if (isOfNode(name)) {
            return NODE.loadClass(name);
        }
        synchronized (getClassLoadingLock(name)) {
            Class<?> type = findLoadedClass(name);
            if (type == null) {
                type = name.startsWith("java.") || !has(fileOf(name))
                        ? getParent().loadClass(name)
                        : findClass(name);
            }
            if (resolve) {
                resolveClass(type);
            }
            return type;
        }
    }

    @Override
    protected Class<?> findClass(String name) throws ClassNotFoundException {
        byte[] bytes = bytes(fileOf(name));
        if (bytes == null) {
            throw new ClassNotFoundException(name);
        }
        byte[] defined = withCheckpoints(name, bytes);
        return defineClass(name, defined, 0, defined.length);
    }

    /** Returns what is defined: what was read of the class file, so that the JVM sees nothing else. */
    private byte[] withCheckpoints(String name, byte[] bytes) {
        try {
            return checkpoints == CheckpointPolicy.OFF ? plain(name, bytes) : Checkpoints.put(bytes);
        } catch (UnfitClassException e) {
            if (checkpoints == CheckpointPolicy.REQUIRED) {
                throw new ClassFormatError("class " + name + " gets no checkpoints: " + e.getMessage());
            }
            byte[] plain = plain(name, bytes);
            LOG.warn(
                    "{}: class {} gets no checkpoints: {}; where it does not return it cannot be stopped",
                    label,
                    OneLine.quoted(name),
                    OneLine.quoted(String.valueOf(e.getMessage())));
            return plain;
        }
    }

    private static byte[] plain(String name, byte[] bytes) {
        try {
            return Checkpoints.plain(bytes);
        } catch (UnfitClassException e) {
            throw new ClassFormatError("class " + name + " cannot be read: " + e.getMessage());
        }
    }

    static String fileOf(String className) {
        return className.replace('.', '/') + ".class";
    }

    private boolean has(String entry) {
        return bytes(entry) != null;
    }

    private byte @Nullable [] bytes(String entry) {
        JarContents open = jar;
        return open == null ? null : open.entries().get(entry);
    }

    @Override
    public @Nullable URL getResource(String name) {
        return findResource(name);
    }

    @Override
    public Enumeration<URL> getResources(String name) {
        return findResources(name);
    }

    @Override
    protected Enumeration<URL> findResources(String name) {
        URL found = findResource(name);
        return Collections.enumeration(found == null ? List.of() : List.of(found));
    }

    @Override
    protected @Nullable URL findResource(String name) {
        if (!has(name)) {
            return null;
        }
        try {
            String path = new URI(null, null, "/" + name, null).getRawPath().substring(1);
            return new URL(null, PROTOCOL + ":" + label + SEPARATOR + path, new Entries());
        } catch (URISyntaxException | MalformedURLException e) {
            return null; // A name that no URL can have.
        }
    }

    /** Opens {@code tamanoir:name:version!/entry}; relative addresses stay inside the jar. */
    private final class Entries extends URLStreamHandler {
        @Override
        protected URLConnection openConnection(URL url) throws IOException {
            String path = url.getPath();
            String entry = path.substring(path.indexOf(SEPARATOR) + SEPARATOR.length());
            byte[] bytes = bytes(URLDecoder.decode(entry.replace("+", "%2B"), StandardCharsets.UTF_8));
            if (bytes == null) {
                throw new FileNotFoundException(url + ": no such entry, or the service was closed");
            }
            return new EntryConnection(url, bytes);
        }
    }

    private static final class EntryConnection extends URLConnection {
        private final byte[] bytes;

        EntryConnection(URL url, byte[] bytes) {
            super(url);
            this.bytes = bytes;
        }

        @Override
        public void connect() {}

        @Override
        public long getContentLengthLong() {
            return bytes.length;
        }

        @Override
        public InputStream getInputStream() {
            return new ByteArrayInputStream(bytes);
        }
    }
}
