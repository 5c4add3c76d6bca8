package org.tamanoir.node.config;

import java.util.Collection;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import java.util.TreeMap;
import java.util.function.Supplier;
import org.tamanoir.catalog.DefinedControl;
import org.tamanoir.catalog.Dispatch;
import org.tamanoir.catalog.Placement;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.catalog.ServiceHealth;
import org.tamanoir.deploy.ServiceFactory;
import org.tamanoir.service.FailurePolicy;
import org.tamanoir.service.Service;
import org.tamanoir.service.ServiceConfig;
import org.tamanoir.service.ServiceTraits;
import org.tamanoir.service.Suggestion;

/** Finds services on the class path. Makes no instance and runs no code of theirs. */
final class ServiceClasses {
    /** What packages of the class path's own services are called; short names stand for classes in it. */
    static final String SHORT_NAME_PACKAGE = "org.tamanoir.services.";

    private ServiceClasses() {}

    /** Services that announce themselves in {@code META-INF/services}, with default settings, by name. */
    static Map<String, ServiceDefinition> discover(Problems problems) {
        Map<String, ServiceDefinition> found = new TreeMap<>();
        Iterator<ServiceLoader.Provider<Service>> providers =
                ServiceLoader.load(Service.class).stream().iterator();
        try {
            while (providers.hasNext()) {
                Class<? extends Service> type = providers.next().type();
                found.put(
                        type.getName(),
                        new ServiceDefinition(
                                type.getName(),
                                "",
                                ServiceFactory.of(type),
                                ServiceConfig.EMPTY,
                                FailurePolicy.DROP,
                                new ServiceHealth(),
                                new Placement(),
                                DefinedControl.of(ServiceFactory.controls(type)),
                                Dispatch.STREAM,
                                ServiceTraits.of(type)));
            }
        } catch (ServiceConfigurationError | IllegalArgumentException e) {
            problems.add("class path", e.getMessage() + "; correct META-INF/services or remove the jar");
        }
        return found;
    }

    /** Whether the class path has a class of this name. */
    static boolean exists(String className) {
        return loader().getResource(className.replace('.', '/') + ".class") != null;
    }

    /** Returns the line that refuses the name of a service that cannot come to be there. */
    static String nobodyHas(String what, String name, Collection<String> known) {
        return what + " names service " + name + ", which nobody has: add its jar to the class path, correct the name"
                + suggestion(name, known) + ", or say in 'deploy' whose code may be fetched";
    }

    /** Returns {@code " to NAME"}, the service that may be meant; empty if none is near. */
    static String suggestion(String name, Collection<String> known) {
        // Else the package, which most of them share, would count for most of the letters.
        List<String> alike = known.stream()
                .filter(each ->
                        Suggestion.nearest(simple(name), List.of(simple(each))).isPresent())
                .toList();
        return Suggestion.nearest(name, alike).map(near -> " to " + near).orElse("");
    }

    private static String simple(String className) {
        return className.substring(className.lastIndexOf('.') + 1);
    }

    /** The class path's; threads that the JVM makes, as for a signal, have none of their own. */
    private static ClassLoader loader() {
        ClassLoader own = Thread.currentThread().getContextClassLoader();
        return own == null ? ClassLoader.getSystemClassLoader() : own;
    }

    /** What makes instances of a class, what makes its control, and what it says of itself. */
    record Makers(Supplier<? extends Service> instances, DefinedControl control, ServiceTraits traits) {
        static Makers like(ServiceDefinition known) {
            return new Makers(known.factory(), known.control().again(), known.traits());
        }
    }

    /**
     * Makers for the class with this name.
     *
     * @throws IllegalArgumentException in one line, if it is missing or no service
     */
    static Makers makers(String className) {
        Class<?> type = type(className);
        try {
            return new Makers(
                    ServiceFactory.of(type),
                    DefinedControl.of(ServiceFactory.controls(type)),
                    ServiceTraits.of(type.asSubclass(Service.class)));
        } catch (LinkageError e) {
            throw new IllegalArgumentException("class " + className + " cannot be loaded: " + e, e);
        }
    }

    /**
     * Returns the class with this name, not initialised.
     *
     * @throws IllegalArgumentException in one line, if it is missing
     */
    static Class<?> type(String className) {
        try {
            return Class.forName(className, false, loader());
        } catch (ClassNotFoundException e) {
            throw new IllegalArgumentException(
                    "class " + className + " is not on the class path: add its jar to it, or correct the name", e);
        } catch (LinkageError e) {
            throw new IllegalArgumentException("class " + className + " cannot be loaded: " + e, e);
        }
    }
}
