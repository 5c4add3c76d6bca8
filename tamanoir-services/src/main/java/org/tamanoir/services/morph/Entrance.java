package org.tamanoir.services.morph;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.tamanoir.format.Conversion;
import org.tamanoir.format.Format;
import org.tamanoir.format.FormatException;
import org.tamanoir.format.FormatFault;
import org.tamanoir.format.FormatMatcher;
import org.tamanoir.format.Target;
import org.tamanoir.message.Bound;
import org.tamanoir.message.MessageHandler;

/**
 * How messages of a format come into a handler.
 *
 * @param conversion before it; null: they come as they are
 */
record Entrance(@Nullable Conversion conversion, Bound bound) {
    /**
     * Prepares a handler for a format: the input that it fits best, by the superset rule, decides.
     *
     * @throws FormatException if it fits none
     */
    static Entrance of(MessageHandler handler, Format format) {
        List<Target> inputs = handler.inputs();
        if (inputs.isEmpty()) {
            return new Entrance(null, handler.bind(format));
        }
        List<Format> formats = inputs.stream().map(Target::format).toList();
        int chosen = FormatMatcher.choose(format, formats, FormatMatcher.Policy.SUPERSET, id -> null);
        if (chosen < 0) {
            throw new FormatException(
                    FormatFault.CONVERSION,
                    format + " has not all that an input needs; inputs: "
                            + String.join(
                                    ", ", formats.stream().map(Format::name).toList()));
        }
        Target target = inputs.get(chosen);
        if (target.format() == format || target.format().id().equals(format.id())) {
            return new Entrance(null, handler.bind(format));
        }
        return new Entrance(Conversion.compile(format, target), handler.bind(target.format()));
    }
}
