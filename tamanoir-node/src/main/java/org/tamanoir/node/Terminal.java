package org.tamanoir.node;

import java.io.Console;

/** Whether someone watches the output. */
final class Terminal {
    private Terminal() {}

    /** Standard input and output are a terminal. */
    static boolean isThere() {
        Console console = System.console();
        if (console == null) {
            return false;
        }
        try {
            // From Java 22 on there is a console without a terminal too, and this method to tell.
            return (boolean) Console.class.getMethod("isTerminal").invoke(console);
        } catch (NoSuchMethodException e) {
            return true;
        } catch (ReflectiveOperationException e) {
            return false;
        }
    }
}
