package org.tamanoir.node.ffs;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.tamanoir.format.FfsReader;
import org.tamanoir.format.Format;
import org.tamanoir.format.FormatException;
import org.tamanoir.format.FormatId;
import org.tamanoir.format.ItemKind;
import org.tamanoir.format.text.JsonFaults;
import org.tamanoir.platform.Causes;
import tools.jackson.core.JacksonException;

/** Files of records, for commands that send and receive them. */
public final class RecordFiles {
    private RecordFiles() {}

    /** Returns whether a file with this name describes its records itself. */
    public static boolean describesItself(Path file) {
        return !TextInput.isText(file);
    }

    /**
     * Reads a file to its end.
     *
     * @param formats of a file that does not describe its records
     * @throws IOException in one line, at the first record that is damaged
     */
    public static void read(Path file, List<Format> formats, RecordSink sink) throws IOException {
        try {
            if (TextInput.isText(file)) {
                Map<FormatId, Format> byId = new HashMap<>();
                formats.forEach(format -> byId.put(format.id(), format));
                TextInput.read(file, byId, sink);
                return;
            }
            try (FfsReader reader = FfsReader.ofFile(Files.newInputStream(file))) {
                for (ItemKind kind = reader.next(); kind != null; kind = reader.next()) {
                    if (kind == ItemKind.DATA) {
                        sink.write(reader.record());
                    }
                }
            }
        } catch (FormatException e) {
            throw new IOException(file + ": " + FfsCommand.line(e), e);
        } catch (UncheckedIOException | JacksonException e) {
            String why = e instanceof JacksonException json ? JsonFaults.why(json) : Causes.text(e);
            throw new IOException(file + ": " + why.replaceAll("\\p{Cntrl}", "?"), e);
        }
    }

    /**
     * Makes a file that records are written to, in the way that its ending says.
     *
     * @throws org.tamanoir.node.cli.CommandException if the ending is not known
     */
    public static RecordOutput create(Path file) throws IOException {
        return RecordOutput.open(file, file, null, null);
    }
}
