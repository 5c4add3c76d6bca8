package org.tamanoir.node.cli;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.IVersionProvider;

/** What {@code --version} prints: the program's, Java's and the system's. */
public final class Version implements IVersionProvider {
    /** Made by picocli. */
    public Version() {}

    @Override
    public String[] getVersion() {
        return new String[] {
            "tamanoir " + number(),
            "Java " + System.getProperty("java.version") + ", " + System.getProperty("java.vm.name"),
            System.getProperty("os.name") + " " + System.getProperty("os.version") + ", "
                    + System.getProperty("os.arch")
        };
    }

    /** As the jar's manifest says. */
    public static String number() {
        @Nullable String version = Version.class.getPackage().getImplementationVersion();
        return version == null ? "(not from a jar)" : version;
    }
}
