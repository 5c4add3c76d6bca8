package org.tamanoir.services.extra.transcode;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.tamanoir.support.Tiers;

@Tag("process")
@Timeout(120)
class CodecProcessTest {
    /** The program has ended long ago, and its number is that of a stranger who leads a session. */
    @Test
    void aStrangerThatHasItsNumberByNowIsLeftAlone() throws Exception {
        Tiers.require("native", Files.isExecutable(Path.of("/usr/bin/setsid")), "no setsid here");
        Process stranger = new ProcessBuilder("/usr/bin/setsid", "/bin/sh", "-c", "echo; read line").start();
        try {
            assertThat(stranger.getInputStream().read()).isEqualTo('\n'); // It leads its session now.
            Process ended = new Ended(stranger.pid());
            CodecProcess codec = CodecProcess.serve(ended, "no mark", 1000, () -> {});
            codec.kill().get(60, TimeUnit.SECONDS);
            assertThat(stranger.isAlive()).isTrue();
        } finally {
            stranger.destroyForcibly();
        }
    }

    /** A process that has ended, with a number that is free. */
    private static final class Ended extends Process {
        private final long pid;
        private final ProcessHandle handle;

        Ended(long pid) throws IOException, InterruptedException {
            this.pid = pid;
            Process other = new ProcessBuilder("/bin/true").start();
            other.waitFor();
            handle = other.toHandle();
        }

        @Override
        public long pid() {
            return pid;
        }

        @Override
        public ProcessHandle toHandle() {
            return handle;
        }

        @Override
        public OutputStream getOutputStream() {
            return OutputStream.nullOutputStream();
        }

        @Override
        public InputStream getInputStream() {
            return InputStream.nullInputStream();
        }

        @Override
        public InputStream getErrorStream() {
            return InputStream.nullInputStream();
        }

        @Override
        public int waitFor() {
            return 0;
        }

        @Override
        public boolean waitFor(long timeout, TimeUnit unit) {
            return true;
        }

        @Override
        public int exitValue() {
            return 0;
        }

        @Override
        public void destroy() {
            // It has ended.
        }
    }
}
