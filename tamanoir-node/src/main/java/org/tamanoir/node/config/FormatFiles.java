package org.tamanoir.node.config;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.tamanoir.format.FfsReader;
import org.tamanoir.format.Format;
import org.tamanoir.format.FormatException;
import org.tamanoir.format.FormatId;
import org.tamanoir.format.ItemKind;

/** Formats that are described in files, and the addresses of servers of formats. */
public final class FormatFiles {
    private FormatFiles() {}

    /**
     * Returns the formats of files.
     *
     * @throws IOException in one line, if one of them cannot be read
     */
    public static List<Format> read(List<Path> files) throws IOException {
        Map<FormatId, Format> formats = new LinkedHashMap<>();
        for (Path file : files) {
            try (FfsReader reader = FfsReader.ofFile(Files.newInputStream(file))) {
                for (ItemKind kind = reader.next(); kind != null; kind = reader.next()) {
                    if (kind == ItemKind.FORMAT) {
                        formats.putIfAbsent(reader.format().id(), reader.format());
                    }
                }
            } catch (FormatException e) {
                throw new IOException(file + " is no FFS file that can be read: " + line(e), e);
            } catch (NoSuchFileException e) {
                throw new IOException(file + ": there is no such file", e);
            }
        }
        return new ArrayList<>(formats.values());
    }

    /** Returns the refusal without what would make it several lines, or move the terminal: names are foreign. */
    private static String line(FormatException e) {
        return String.valueOf(e.getMessage()).replaceAll("\\p{Cntrl}", "?");
    }

    /** Checks a file's formats. */
    static Path readable(String file) {
        Path path = Path.of(file);
        try {
            read(List.of(path));
            return path;
        } catch (IOException e) {
            throw new IllegalArgumentException(String.valueOf(e.getMessage()), e);
        }
    }

    /** The base address of a server of formats. */
    static URI server(String text) {
        try {
            return DeploySettings.repository(text);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(
                    "'" + text + "' is no format server: http://HOST:PORT or https://HOST:PORT is wanted", e);
        }
    }
}
