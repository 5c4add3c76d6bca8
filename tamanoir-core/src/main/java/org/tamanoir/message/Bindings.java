package org.tamanoir.message;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.tamanoir.format.Conversion;
import org.tamanoir.format.Format;
import org.tamanoir.format.FormatException;
import org.tamanoir.format.FormatMatcher;
import org.tamanoir.format.FormatRegistry;
import org.tamanoir.format.Target;

/**
 * A handler bound to the formats of the messages that came last, with the conversions into what it wants.
 *
 * <p>Thread contract: the service's thread.
 */
final class Bindings {
    private static final int LIMIT = 1_024;

    /**
     * What is settled for a format.
     *
     * @param bound null if the handler does not take it
     */
    record Binding(@Nullable Bound bound, @Nullable Conversion conversion) {}

    static final Binding UNFIT = new Binding(null, null);

    private final MessageHandler handler;
    private final FormatRegistry known;
    private final Map<Format, Binding> bindings = new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Format, Binding> eldest) {
            return size() > LIMIT;
        }
    };

    private @Nullable Format lastFormat;
    private @Nullable Binding last;

    Bindings(MessageHandler handler, FormatRegistry known) {
        this.handler = handler;
        this.known = known;
    }

    Binding of(Format format) {
        Binding binding = last;
        if (binding == null || format != lastFormat) {
            binding = bindings.get(format);
            if (binding == null) {
                binding = bind(format);
                bindings.put(format, binding);
            }
            lastFormat = format;
            last = binding;
        }
        return binding;
    }

    private Binding bind(Format format) {
        List<Target> inputs = handler.inputs();
        try {
            if (inputs.isEmpty()) {
                return new Binding(handler.bind(format), null);
            }
            int chosen = FormatMatcher.choose(
                    format, inputs.stream().map(Target::format).toList(), FormatMatcher.Policy.SUPERSET, known::find);
            if (chosen < 0) {
                return UNFIT;
            }
            Target target = inputs.get(chosen);
            return target.format().id().equals(format.id())
                    ? new Binding(handler.bind(format), null)
                    : new Binding(handler.bind(target.format()), Conversion.compile(format, target));
        } catch (FormatException e) {
            return UNFIT;
        }
    }

    /** Has all formats bound anew. */
    void clear() {
        bindings.clear();
        last = null;
        lastFormat = null;
    }
}
