package org.tamanoir.service;

/**
 * What a {@link Service} does to the sizes of its traffic, as {@link ChangesSize} says. A node goes by it where it is to
 * choose whether traffic is scheduled before services or after them.
 */
public enum SizeEffect {
    /** What leaves is about as much as what came: what a service has that says nothing. */
    KEEPS,
    /** Longer packets may leave, or more of them. */
    GROWS,
    /** Shorter packets leave, or fewer of them. */
    SHRINKS;

    /** Returns what a service's class says. */
    public static SizeEffect of(Class<?> service) {
        ChangesSize says = service.getAnnotation(ChangesSize.class);
        return says == null ? KEEPS : says.value();
    }
}
