package org.tamanoir.deploy;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Modifier;
import java.util.function.Supplier;
import org.tamanoir.service.Service;

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
                    .asType(MethodType.methodType(Service.class));
            return () -> make(maker);
        } catch (NoSuchMethodException e) {
            throw new IllegalArgumentException(
                    "class " + type.getName() + " has no public constructor without arguments" + wanted, e);
        } catch (IllegalAccessException e) {
            throw new IllegalArgumentException("class " + type.getName() + " is not public" + wanted, e);
        }
    }

    private static Service make(MethodHandle maker) {
        try {
            return (Service) maker.invokeExact();
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new IllegalStateException("the constructor threw " + e, e);
        }
    }
}
