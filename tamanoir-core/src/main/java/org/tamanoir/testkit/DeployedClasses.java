package org.tamanoir.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.InvocationTargetException;
import java.net.URL;
import java.net.URLClassLoader;
import java.security.CodeSource;
import java.util.List;
import java.util.Objects;
import org.tamanoir.service.Service;

/**
 * Loads a service's classes anew so that they see what those of a deployed service see: {@code java.*}, {@code
 * org.tamanoir.service} and {@code org.tamanoir.anep}, the folder or jar that the service lies in, the rest of the
 * JDK; nothing else of the class path.
 *
 * <p>Thread contract: any thread.
 */
final class DeployedClasses extends URLClassLoader {
    private static final List<String> NODE_PACKAGES = List.of(
            "org.tamanoir.service.",
            "org.tamanoir.anep.",
            "org.tamanoir.nodeos.",
            "org.tamanoir.format.",
            "org.tamanoir.message.",
            "org.tamanoir.icmp.");
    private static final ClassLoader NODE = Objects.requireNonNull(Service.class.getClassLoader());

    static {
        registerAsParallelCapable();
    }

    private DeployedClasses(URL classes) {
        super(new URL[] {classes}, ClassLoader.getPlatformClassLoader());
    }

    static DeployedClasses of(Class<? extends Service> type) {
        CodeSource source = type.getProtectionDomain().getCodeSource();
        if (source == null) {
            throw new IllegalArgumentException(type.getName() + " was not loaded from a folder or jar");
        }
        return new DeployedClasses(source.getLocation());
    }

    /** An instance, made as a node makes it. */
    Service newService(String className) {
        try {
            return loadClass(className)
                    .asSubclass(Service.class)
                    .getConstructor()
                    .newInstance();
        } catch (InvocationTargetException e) {
            throw new AssertionError(className + " failed in its constructor: " + e.getCause(), e.getCause());
        } catch (NoSuchMethodException | IllegalAccessException | InstantiationException e) {
            throw new AssertionError(
                    className + " must be a public class, not abstract, with a public constructor without arguments: "
                            + e,
                    e);
        } catch (ClassNotFoundException | LinkageError e) {
            throw new AssertionError(
                    className + " needs a class that a node does not show it: " + e
                            + "; what it needs besides the JDK, "
                            + "org.tamanoir.service and org.tamanoir.anep must be in its jar",
                    e);
        }
    }

    @Override
    public void close() {
        try {
            super.close();
        } catch (IOException e) {
            throw new UncheckedIOException("the jar or folder of the service cannot be closed", e);
        }
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        if (NODE_PACKAGES.stream().anyMatch(name::startsWith)) {
            return NODE.loadClass(name);
        }
        synchronized (getClassLoadingLock(name)) {
            Class<?> type = findLoadedClass(name);
            if (type == null) {
                type = name.startsWith("java.") || findResource(name.replace('.', '/') + ".class") == null
                        ? getParent().loadClass(name)
                        : findClass(name);
            }
            if (resolve) {
                resolveClass(type);
            }
            return type;
        }
    }
}
