package org.tamanoir.services.morph.handler;

import java.nio.file.Path;
import java.util.Map;
import org.tamanoir.format.Target;

/**
 * What names in settings stand for.
 *
 * @param formats by their names in the plan, which differ from their structures' where several versions have one; with
 *     the defaults that fields were declared with
 * @param folder of the plan, from which names of files begin
 */
public record PlanNames(Map<String, Target> formats, Path folder) {
    /** Keeps a copy. */
    public PlanNames {
        formats = Map.copyOf(formats);
    }
}
