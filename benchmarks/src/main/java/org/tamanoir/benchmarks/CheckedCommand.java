package org.tamanoir.benchmarks;

import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** A command of this program whose options have bounds. Thread contract: the main thread. */
public abstract class CheckedCommand implements Callable<Integer> {
    static {
        // Reports are the same wherever they are made.
        Locale.setDefault(Locale.Category.FORMAT, Locale.ROOT);
    }

    @Spec
    private @Nullable CommandSpec spec;

    /**
     * Ends the command with code 2 unless an option is within its bounds.
     *
     * @param message names the option, its value and the bounds
     */
    protected final void require(boolean holds, String message) {
        if (!holds) {
            throw wrongUsage(message);
        }
    }

    /** Reads an option, and ends the command with code 2 if that refuses it. */
    protected final <T> T checked(Supplier<T> option) {
        try {
            return option.get();
        } catch (IllegalArgumentException e) {
            throw wrongUsage(String.valueOf(e.getMessage()));
        }
    }

    private RuntimeException wrongUsage(String message) {
        return spec == null
                ? new IllegalArgumentException(message)
                : new ParameterException(spec.commandLine(), message);
    }
}
