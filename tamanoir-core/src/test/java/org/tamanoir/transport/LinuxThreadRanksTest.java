package org.tamanoir.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;
import static org.tamanoir.support.Waiting.PATIENCE;
import static org.tamanoir.support.Waiting.async;

import com.sun.jna.Platform;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.tamanoir.platform.ThreadPriorities;
import org.tamanoir.platform.ThreadRank;
import org.tamanoir.platform.ThreadRanks;
import org.tamanoir.support.Tiers;

/** What the kernel says of real threads that have taken their ranks, with the privilege and without. */
class LinuxThreadRanksTest {
    /** How /proc says that a thread is scheduled. */
    private record Scheduled(int policy, int nice, int realtimePriority) {
        /** How a thread begins whose maker does not hand on its rank: with nice 0, whatever that of the process. */
        static final Scheduled RESET = new Scheduled(0, 0, 0);

        static Scheduled now() throws IOException {
            String stat = Files.readString(Path.of("/proc/thread-self/stat"));
            // Behind the name, which may have any character: field 3 of proc(5) is the first.
            String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
            return new Scheduled(field(fields, 41), field(fields, 19), field(fields, 40));
        }

        private static int field(String[] fields, int number) {
            return Integer.parseInt(fields[number - 3]);
        }
    }

    @BeforeEach
    void onLinux() {
        assumeTrue(Platform.isLinux(), "priorities of threads are Linux'");
    }

    @Test
    void aThreadOfTheNodeHasNiceMinusTen() throws Exception {
        ThreadRanks ranks = permitted(ThreadPriorities.AUTO, "nice -10");

        assertThat(ranked(ranks, ThreadRank.CONTROL, Scheduled::now)).isEqualTo(new Scheduled(0, -10, 0));
    }

    @Test
    void aThreadOfTheNodeHasSlicesOfATenthOfAMillisecond() throws Exception {
        ThreadRanks ranks = permitted(ThreadPriorities.AUTO, "slices of 0.1 ms");
        assumeTrue(!ranks.text().contains("need Linux"), ranks.text());

        assertThat(ranked(ranks, ThreadRank.CONTROL, SchedulingCalls::sliceNs)).isEqualTo(100_000);
    }

    @Test
    void whatAThreadOfTheNodeStartsIsAThreadLikeAnyOther() throws Exception {
        ThreadRanks ranks = permitted(ThreadPriorities.AUTO, "nice -10");

        assertThat(ranked(ranks, ThreadRank.CONTROL, () -> get(async(Scheduled::now))))
                .isEqualTo(Scheduled.RESET);
    }

    @Test
    void whatAThreadOfAServerStartsIsAsUrgent() throws Exception {
        ThreadRanks ranks = permitted(ThreadPriorities.AUTO, "nice -10");

        assertThat(ranked(ranks, ThreadRank.SERVER, () -> get(async(Scheduled::now))))
                .isEqualTo(new Scheduled(0, -10, 0));
    }

    @Test
    void aThreadThatChangesTheNodeStandsBetweenServerAndServices() throws Exception {
        ThreadRanks ranks = permitted(ThreadPriorities.AUTO, "nice -10");

        assertThat(ranked(
                        ranks,
                        ThreadRank.SERVER,
                        () -> get(async(() -> {
                            ranks.take(ThreadRank.CHANGE);
                            return Scheduled.now();
                        }))))
                .isEqualTo(new Scheduled(0, -5, 0));
    }

    @Test
    void aServiceIsNotLoweredWhereTheNodeIsRaised() throws Exception {
        ThreadRanks ranks = permitted(ThreadPriorities.LOWER, "nice -10");

        assertThat(ranked(ranks, ThreadRank.SERVICE, Scheduled::now)).isEqualTo(Scheduled.now());
    }

    @Test
    void aThreadOfTheNodeHasARealTimeClassWhereItIsAskedFor() throws Exception {
        ThreadRanks ranks = permitted(ThreadPriorities.REALTIME, "SCHED_RR 1");

        assertThat(ranked(ranks, ThreadRank.CONTROL, Scheduled::now))
                .isEqualTo(new Scheduled(2, Scheduled.now().nice(), 1));
        assertThat(ranked(ranks, ThreadRank.CONTROL, () -> get(async(Scheduled::now))))
                .as("and a thread that it starts")
                .isEqualTo(Scheduled.RESET);
    }

    @Test
    void timersOfAThreadOfTheNodeAreNotLateOnPurpose() throws Exception {
        ThreadRanks ranks = get(async(() -> LinuxThreadRanks.of(ThreadPriorities.AUTO)));

        assertThat(ranked(ranks, ThreadRank.CONTROL, () -> LibC.prctl(30 /* PR_GET_TIMERSLACK */, 0, 0, 0, 0)))
                .isEqualTo(1);
    }

    @Test
    void withoutThePrivilegeAServiceIsLoweredWhereThatIsAskedFor() throws Exception {
        ThreadRanks ranks = unprivileged(ThreadPriorities.LOWER);

        assertThat(ranked(ranks, ThreadRank.SERVICE, Scheduled::now)).isEqualTo(new Scheduled(0, 19, 0));
        assertThat(ranked(ranks, ThreadRank.CONTROL, Scheduled::now)).isEqualTo(Scheduled.now());
        assertThat(ranks.text()).contains("services' threads have nice 19", "CAP_SYS_NICE");
    }

    @Test
    void withoutThePrivilegeAllAreAlike() throws Exception {
        ThreadRanks ranks = unprivileged(ThreadPriorities.AUTO);

        for (ThreadRank rank : ThreadRank.values()) {
            assertThat(ranked(ranks, rank, Scheduled::now)).as("%s", rank).isEqualTo(Scheduled.now());
        }
        assertThat(ranks.text()).contains("all threads alike", "CAP_SYS_NICE");
    }

    @Test
    void withoutThePrivilegeTheLimitOfTheClassThatIsAskedForIsNamed() throws Exception {
        assertThat(unprivileged(ThreadPriorities.REALTIME).text()).contains("RLIMIT_RTPRIO 1");
    }

    @Test
    void offChangesNothing() throws Exception {
        ThreadRanks ranks = LinuxThreadRanks.of(ThreadPriorities.OFF);

        for (ThreadRank rank : ThreadRank.values()) {
            assertThat(ranked(ranks, rank, Scheduled::now)).as("%s", rank).isEqualTo(Scheduled.now());
        }
    }

    /** Runs this on a new thread of the rank. */
    private static <T> T ranked(ThreadRanks ranks, ThreadRank rank, Callable<T> code) throws Exception {
        return get(async(() -> {
            ranks.take(rank);
            return code.call();
        }));
    }

    private static <T> T get(CompletableFuture<T> result) throws Exception {
        return result.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    }

    private static ThreadRanks permitted(ThreadPriorities wanted, String what) {
        ThreadRanks ranks = LinuxThreadRanks.of(wanted);
        Tiers.require("priorities", ranks.text().contains(what), ranks.text());
        return ranks;
    }

    /** Returns what a thread finds that has given up CAP_SYS_NICE, which is a thread's own. */
    private static ThreadRanks unprivileged(ThreadPriorities wanted) throws Exception {
        ThreadRanks ranks = get(async(() -> {
            dropSysNice();
            return LinuxThreadRanks.of(wanted);
        }));
        assumeTrue(!ranks.text().contains("own threads have"), "permitted by RLIMIT_NICE");
        return ranks;
    }

    /** capget(2) and capset(2), version 3: header of 8 bytes, then effective, permitted, inheritable, twice. */
    private static void dropSysNice() {
        long sysNice = 1 << 23;
        NativeMemory header = new NativeMemory(8);
        header.bytes.putInt(0, 0x2008_0522).putInt(4, 0);
        NativeMemory sets = new NativeMemory(24);
        assertThat(LibC.syscall(Platform.isARM() ? 90 : 125, header.address, sets.address, 0, 0))
                .isZero();
        for (int set = 0; set < 12; set += 4) {
            sets.bytes.putInt(set, (int) (sets.bytes.getInt(set) & ~sysNice));
        }
        assertThat(LibC.syscall(Platform.isARM() ? 91 : 126, header.address, sets.address, 0, 0))
                .isZero();
    }
}
