package org.tamanoir.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.tamanoir.support.Waiting;

@Tag("process")
@EnabledOnOs(OS.LINUX)
class LoadPartsTest {
    private Processes processes;

    @BeforeEach
    void begin() throws Exception {
        processes = new Processes();
    }

    @AfterEach
    void end() {
        processes.close();
    }

    @Test
    void shortStreamsAllArriveAndEndWhateverTheirNumberAtOnce() throws Exception {
        Child sink = processes.load("stream-sink");
        Child sender = processes.load("life-sender packets=3 size=200");

        sender.ask(sink.ready() + " 20 1");
        sender.ask(sink.ready() + " 50 50");

        assertThat(ManyStreams.awaitAll(sink, 70 * 3)).containsExactly(70 * 3, 0);
    }

    @Test
    void pacedSenderThatEndsBeginsAnewWhereItIsTold() throws Exception {
        Child first = processes.load("tcp-sink latency=true");
        Child second = processes.load("tcp-sink latency=true");
        Child sender = processes.load(PacedSender.part(Transport.TCP, 200, 1000) + " port=%s", (Object) first.ready());
        Waiting.eventually().until(() -> first.ask("latency")[0] > 0);

        sender.ask("end");
        Waiting.eventually().until(() -> first.ask("latency")[0] == 0);
        sender.ask("to " + second.ready());

        Waiting.eventually().until(() -> second.ask("latency")[0] > 0);
        assertThat(first.ask("latency")[0]).isZero();
    }

    @Test
    void userTimeIsAPartOfProcessorTime() {
        CpuClock.Used begin = CpuClock.used(ProcessHandle.current());
        Waiting.eventually().until(() -> {
            CpuClock.Used used = CpuClock.used(ProcessHandle.current()).since(begin);
            return used.userNs() > 0 && used.userNs() <= used.ns();
        });
    }
}
