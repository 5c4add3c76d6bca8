package org.tamanoir.node.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.util.Map;
import org.junit.jupiter.api.Test;

class CommandExceptionTest {
    /** The JDK's own message of the first three is the name alone. */
    @Test
    void whatIsWrongWithAFileIsSaidWithTheRemedy() {
        Map<Exception, String> lines = Map.of(
                new NoSuchFileException("/a"), "/a: there is no such file or folder; correct the path",
                new AccessDeniedException("/a"), "/a: no permission; choose another, or change its owner or mode",
                new FileAlreadyExistsException("/a"), "/a: it exists already; choose another name",
                new FileSystemException("/a", null, "Is a directory"),
                        "/a: cannot be read or written: Is a directory; choose another",
                new UncheckedIOException(new NoSuchFileException("/b")),
                        "/b: there is no such file or folder; correct the path");

        lines.forEach((cause, line) ->
                assertThat(new CommandException(ExitCode.USAGE, cause)).hasMessage(line));
    }

    @Test
    void otherCausesSayItThemselves() {
        assertThat(new CommandException(ExitCode.USAGE, new IOException("x: y")))
                .hasMessage("x: y");
        assertThat(new CommandException(ExitCode.USAGE, new IOException())).hasMessage("java.io.IOException");
    }
}
