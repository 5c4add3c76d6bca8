package org.tamanoir.service;

import java.util.Map;

/**
 * What operators see and change of a service while it runs: one object for all instances of a service's definition,
 * named by {@link ControlledBy} and made with no arguments when the service is defined, before its first instance.
 *
 * <p>Views and arguments are trees of maps with texts as keys, lists, texts, numbers, booleans and null, as JSON has them.
 *
 * <p>Thread contract: any threads; instances get it by {@code Service.control}.
 */
public interface ServiceControl {
    /**
     * Before all else, once.
     *
     * @throws Exception if the settings do not fit, in one line: the service is then not defined
     */
    void init(ServiceConfig config, ControlHost host) throws Exception;

    /**
     * After {@link #init}, where the definition comes in place of another one, as by a reload: takes over what must outlive a
     * change of settings, such as which packets have come. That of the other definition goes on until its last instance has
     * ended.
     *
     * @param before of the same class
     */
    default void follow(ServiceControl before) {}

    /** Returns what it does now. */
    Map<String, Object> view();

    /**
     * Changes it, wholly or not at all.
     *
     * @param operation what to do; a control names those it has when it refuses another
     * @return what was done
     * @throws IllegalArgumentException why not: what was wrong, the value, the bound, the remedy; lines where there are
     *     several
     */
    Map<String, Object> change(String operation, Map<String, Object> arguments);

    /** Last call, when the definition has gone and its last instance has ended. */
    default void close() {}
}
