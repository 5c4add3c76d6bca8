package org.tamanoir.node.cli;

/** Exit codes of the program. */
public final class ExitCode {
    /** The command has done its work. */
    public static final int OK = 0;

    /** The command failed in its work. */
    public static final int FAILED = 1;

    /** Wrong usage, wrong configuration, or the command could not start. */
    public static final int USAGE = 2;

    /** A node has lost a thread that it cannot do without; EX_SOFTWARE in sysexits(3). */
    public static final int LOST = 70;

    private ExitCode() {}
}
