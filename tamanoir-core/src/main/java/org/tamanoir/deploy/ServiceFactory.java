package org.tamanoir.deploy;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Modifier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.tamanoir.service.ControlledBy;
import org.tamanoir.service.Service;
import org.tamanoir.service.ServiceControl;

/** Makes makers of service instances. Any thread. */
public final class ServiceFactory {
    private ServiceFactory() {}

    /**
     * Returns a maker of instances of a class, which it does not initialise before the first. It throws what the
     * constructor or a static initialiser throws.
     *
     * @throws IllegalArgumentException in one line, if it is no service or cannot be made
     * @throws LinkageError if a class is missing that its constructors name
     */
    public static Supplier<Service> of(Class<?> type) {
        String wanted = ": a public class with a public constructor without arguments is wanted";
        if (!Service.class.isAssignableFrom(type)) {
            throw new IllegalArgumentException(
                    "class " + type.getName() + " is no service: it must extend " + Service.class.getName());
        }
        if (Modifier.isAbstract(type.getModifiers())) {
            throw new IllegalArgumentException("class " + type.getName() + " is abstract" + wanted);
        }
        try {
            MethodHandle maker = MethodHandles.publicLookup()
                    .unreflectConstructor(type.getConstructor())
                    .asType(MethodType.methodType(Object.class));
            return () -> (Service) make(maker);
        } catch (NoSuchMethodException e) {
            throw new IllegalArgumentException(
                    "class " + type.getName() + " has no public constructor without arguments" + wanted, e);
        } catch (IllegalAccessException e) {
            throw new IllegalArgumentException("class " + type.getName() + " is not public" + wanted, e);
        }
    }

    /**
     * Returns a maker of the control that a service's class names in {@link ControlledBy}; null if it names none. Runs no
     * code of either.
     *
     * @throws IllegalArgumentException in one line, if it cannot be made
     * @throws LinkageError if a class is missing that it names
     */
    public static @Nullable Supplier<ServiceControl> controls(Class<?> service) {
        ControlledBy by = service.getAnnotation(ControlledBy.class);
        if (by == null) {
            return null;
        }
        try {
            return controls(service, by.value());
        } catch (TypeNotPresentException e) {
            throw new IllegalArgumentException(
                    "class " + e.typeName() + ", the control of " + service.getName() + ", is missing: add its jar", e);
        }
    }

    /**
     * Returns a maker of this control of a service's class.
     *
     * @throws IllegalArgumentException in one line, if it cannot be made
     * @throws LinkageError if a class is missing that it names
     */
    static Supplier<ServiceControl> controls(Class<?> service, Class<?> type) {
        try {
            if (Modifier.isAbstract(type.getModifiers()) || !ServiceControl.class.isAssignableFrom(type)) {
                throw new NoSuchMethodException();
            }
            MethodHandle maker = MethodHandles.publicLookup()
                    .unreflectConstructor(type.getConstructor())
                    .asType(MethodType.methodType(Object.class));
            return () -> (ServiceControl) make(maker);
        } catch (NoSuchMethodException | IllegalAccessException e) {
            throw new IllegalArgumentException(
                    "class " + type.getName() + ", the control of " + service.getName()
                            + ", cannot be made: a public class that implements ServiceControl and has a public constructor"
                            + " without arguments is wanted",
                    e);
        }
    }

    private static Object make(MethodHandle maker) {
        try {
            return maker.invokeExact();
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new IllegalStateException("the constructor threw " + e, e);
        }
    }
}
