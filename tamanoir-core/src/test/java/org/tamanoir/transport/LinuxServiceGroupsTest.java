package org.tamanoir.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;
import static org.tamanoir.support.Waiting.eventually;

import com.sun.jna.Platform;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.tamanoir.platform.ServiceGrouping;
import org.tamanoir.platform.ServiceGroups;
import org.tamanoir.support.Tiers;

/** Groups of threads, in a group of this process's own, without the controller that shares processors. */
@Tag("namespace")
class LinuxServiceGroupsTest {
    private static final String CONTROLLER = "cpu";
    private static final int PATIENCE_S = 40;

    private @Nullable ControlGroup before;
    private @Nullable ControlGroup given;
    private ServiceGroups groups = ServiceGroups.NONE;

    @AfterEach
    void goBack() throws IOException {
        groups.close();
        if (before != null && given != null) {
            before.write("cgroup.procs", ControlGroup.SELF);
            given.child("tamanoir").remove();
            given.remove();
        }
    }

    @Test
    void threadsOfAServiceAndThoseThatTheyStartAreInItsGroup() throws Exception {
        begin();

        inGroup("org.example.Foo:1.2", () -> {
            assertThat(groupOfThisThread()).endsWith("/tamanoir/service-org.example.Foo:1.2");
            assertThat(get(async(LinuxServiceGroupsTest::groupOfThisThread)))
                    .as("one that it has started")
                    .isEqualTo(groupOfThisThread());
            assertThat(get(async(() -> {
                        groups.stayOut();
                        return groupOfThisThread();
                    })))
                    .as("one of the node that it has started")
                    .endsWith("/tamanoir");
            return true;
        });
        assertThat(groupOfThisThread()).endsWith("/tamanoir");
    }

    @Test
    void aThreadThatLeavesIsInTheNodesGroup() throws Exception {
        begin();

        String after = get(async(() -> {
            groups.join("Foo", 0).leave();
            return groupOfThisThread();
        }));

        assertThat(after).endsWith("/tamanoir");
    }

    @Test
    void aGroupEndsWithTheLastOfItsThreads() throws Exception {
        begin();

        inGroup("Foo", () -> {
            inGroup("Foo", () -> true);
            assertThat(services()).containsExactly("service-Foo");
            return true;
        });

        assertThat(services()).isEmpty();
    }

    @Test
    void aGroupInWhichAServiceLeftAThreadEndsWhenThatHasEnded() throws Exception {
        begin();
        CountDownLatch end = new CountDownLatch(1);
        CompletableFuture<Thread> left = new CompletableFuture<>();
        inGroup("Foo", () -> {
            Thread thread = new Thread(() -> awaitEnd(end));
            thread.start();
            return left.complete(thread);
        });
        assertThat(services()).containsExactly("service-Foo");

        end.countDown();
        left.get().join();

        // The operating system may need a moment more.
        eventually().untilAsserted(() -> {
            inGroup("Bar", () -> true);
            assertThat(services()).isEmpty();
        });
    }

    @Test
    void whatIsLeftOfANodeBeforeIsRemoved() throws Exception {
        ControlGroup node = begin().child("tamanoir");
        node.child("service-Old").makeThreaded();

        groups = LinuxServiceGroups.in(node, null); // It stays where it is.

        assertThat(groups.text()).contains("in " + node.folder());
        assertThat(services()).isEmpty();
    }

    @Test
    void theEndLeavesNothingNotEvenForAThreadThatDoesNotReturn() throws Exception {
        ControlGroup group = begin();
        CountDownLatch end = new CountDownLatch(1);
        CountDownLatch joined = new CountDownLatch(1);
        CompletableFuture<Boolean> stuck = async(() -> {
            groups.join("Foo", 0);
            joined.countDown();
            awaitEnd(end);
            return true;
        });
        joined.await();

        groups.close();

        assertThat(group.child("tamanoir").folder()).doesNotExist();
        assertThat(groupOfThisThread()).endsWith(group.folder().getFileName().toString());
        end.countDown();
        get(stuck);
    }

    @Test
    void aThreadThatCannotBeMovedRunsInTheNodesGroup() throws Exception {
        begin().child("tamanoir").write("cgroup.max.descendants", "0");

        assertThat(inGroup("Foo", LinuxServiceGroupsTest::groupOfThisThread)).endsWith("/tamanoir");
        assertThat(groups.text()).endsWith("; threads that could not be moved: 1");
    }

    @Test
    void moreServicesThanThereMayBeGroupsRunInTheNodes() throws Exception {
        begin();
        CountDownLatch end = new CountDownLatch(1);
        List<CompletableFuture<Boolean>> members = new ArrayList<>();
        for (int i = 0; i < LinuxServiceGroups.MAX_GROUPS; i++) {
            String service = "Foo" + i;
            CountDownLatch joined = new CountDownLatch(1);
            members.add(async(() -> inGroup(service, () -> {
                joined.countDown();
                awaitEnd(end);
                return true;
            })));
            joined.await();
        }

        assertThat(inGroup("OneMore", LinuxServiceGroupsTest::groupOfThisThread))
                .endsWith("/tamanoir");

        end.countDown();
        for (CompletableFuture<Boolean> member : members) {
            get(member);
        }
        assertThat(inGroup("OneMore", LinuxServiceGroupsTest::groupOfThisThread))
                .endsWith("/service-OneMore");
    }

    @Test
    void withoutTheControllerThereAreNoneAndTheProcessStaysWhereItIs() throws Exception {
        ControlGroup group = enter();
        assumeTrue(!group.has("cgroup.controllers", CONTROLLER), "this host gives groups processors");

        groups = LinuxServiceGroups.of(ServiceGrouping.SERVICES);

        assertThat(groups.text())
                .startsWith("each thread for itself: " + group.folder() + " has no controller cpu")
                .contains("Delegate=cpu");
        assertThat(groupOfThisThread()).endsWith(group.folder().getFileName().toString());
        assertThat(group.child("tamanoir").folder()).doesNotExist();
    }

    @Test
    void offIsNone() {
        assertThat(LinuxServiceGroups.of(ServiceGrouping.OFF)).isSameAs(ServiceGroups.NONE);
    }

    @ParameterizedTest
    @CsvSource({
        "org.example.Foo:1.2.3, service-org.example.Foo:1.2.3",
        "cpu.max, service-cpu.max",
        "../../x, service-.._.._x-d950bd27-4a67-3aaf-a5fe-38b77a22b060",
    })
    void aServicesNameIsThatOfAFolderInTheNodes(String service, String folder) {
        assertThat(LinuxServiceGroups.name(service)).isEqualTo(folder);
    }

    @Test
    void longNamesStayApart() {
        String one = "a".repeat(5_000);

        assertThat(LinuxServiceGroups.name(one)).hasSizeLessThan(200).isNotEqualTo(LinuxServiceGroups.name(one + "a"));
    }

    @ParameterizedTest
    @CsvSource({"0, max 10000", "0.25, 2500 10000", "0.01, 1000 100000", "2, 20000 10000", "1024, 10240000 10000"})
    void aLimitHoldsWithinTheShortestPeriodThatTheOperatingSystemTakes(double processors, String quota) {
        assertThat(LinuxServiceGroups.quota(processors)).isEqualTo(quota);
    }

    @Test
    void theGroupOfAProcessStandsWhereItsHierarchyIsMounted() throws Exception {
        List<String> groups = List.of("4:memory:/a", "0::/system.slice/tamanoir-node.service");
        String v1 = "31 23 0:27 / /sys/fs/cgroup/memory rw shared:9 - cgroup cgroup rw,memory";
        String v2 = "35 23 0:30 / /sys/fs/cgroup/unified rw shared:10 - cgroup2 cgroup2 rw";
        String inside = "35 23 0:30 /system.slice /sys/fs/cgroup rw - cgroup2 cgroup2 rw";

        assertThat(ControlGroup.find(groups, List.of(v1, v2)))
                .isEqualTo(Path.of("/sys/fs/cgroup/unified/system.slice/tamanoir-node.service"));
        assertThat(ControlGroup.find(groups, List.of(inside)))
                .isEqualTo(Path.of("/sys/fs/cgroup/tamanoir-node.service"));
        assertThatThrownBy(() -> ControlGroup.find(groups, List.of(v1))).hasMessageContaining("is not mounted");
        assertThatThrownBy(() -> ControlGroup.find(List.of("4:memory:/a"), List.of(v1, v2)))
                .hasMessage("the host has cgroup v1 alone, which is not supported");
    }

    private ControlGroup begin() throws IOException {
        ControlGroup group = enter();
        groups = LinuxServiceGroups.in(group, null);
        assertThat(groups.text()).startsWith("services share processors as groups of threads");
        return group;
    }

    /** Has this process in a group of its own. */
    private ControlGroup enter() {
        assumeTrue(Platform.isLinux(), "groups of threads are Linux'");
        String why = "";
        try {
            ControlGroup now = ControlGroup.ofThisProcess();
            ControlGroup own =
                    now.child("tamanoir-test-" + ProcessHandle.current().pid());
            before = now;
            given = own.make();
            own.write("cgroup.procs", ControlGroup.SELF);
        } catch (IOException e) {
            why = "no group of cgroup v2 can be made here: " + e.getMessage();
        }
        Tiers.require("cgroup", why.isEmpty(), why);
        return Objects.requireNonNull(given);
    }

    private List<String> services() throws IOException {
        return Objects.requireNonNull(given).child("tamanoir").children("service-").stream()
                .map(each -> each.folder().getFileName().toString())
                .toList();
    }

    private static String groupOfThisThread() throws IOException {
        return Files.readAllLines(Path.of("/proc/thread-self/cgroup")).stream()
                .filter(line -> line.startsWith("0::"))
                .findFirst()
                .orElseThrow();
    }

    /** Runs this on a new thread of the service. */
    private <T> T inGroup(String service, Callable<T> code) throws Exception {
        return get(async(() -> {
            ServiceGroups.Member member = groups.join(service, 0);
            try {
                return code.call();
            } finally {
                member.leave();
            }
        }));
    }

    private static void awaitEnd(CountDownLatch end) {
        try {
            end.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Runs this on a new thread. */
    private static <T> CompletableFuture<T> async(Callable<T> code) {
        CompletableFuture<T> result = new CompletableFuture<>();
        Thread thread = new Thread(() -> {
            try {
                result.complete(code.call());
            } catch (Throwable e) {
                result.completeExceptionally(e);
            }
        });
        thread.setDaemon(true);
        thread.start();
        return result;
    }

    private static <T> T get(CompletableFuture<T> result) throws Exception {
        return result.get(PATIENCE_S, TimeUnit.SECONDS);
    }
}
