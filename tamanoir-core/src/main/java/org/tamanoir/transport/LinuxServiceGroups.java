package org.tamanoir.transport;

import com.sun.jna.Platform;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.UUID;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.platform.ServiceGrouping;
import org.tamanoir.platform.ServiceGroups;

/**
 * Groups by cgroup v2. The node's process moves into the group {@code tamanoir} of the one that it was started in, and
 * each service has a threaded group there, in which its threads are while it has any:
 *
 * <pre>
 *   GROUP                      delegated to the node: systemd needs it free for the commands of the unit
 *     tamanoir                 the process, and each thread that is no service's
 *       service-NAME:VERSION   threads of the instances, and those that they started; cpu.max by limits.processors
 * </pre>
 *
 * <p>A process that is started in a group named {@code tamanoir} stays there. What is permitted is found out by moving the
 * thread that asks.
 *
 * <p>Thread contract: as {@link ServiceGroups}. Moves take no lock of this; makings and endings of groups do.
 */
public final class LinuxServiceGroups implements ServiceGroups {
    private static final Logger LOG = LoggerFactory.getLogger(LinuxServiceGroups.class);
    static final String NODE = "tamanoir";
    static final String PREFIX = "service-";
    /** Groups at once; the operating system keeps some KiB for each of them and processor. */
    static final int MAX_GROUPS = 256;

    private static final int MAX_NAME = 100;
    private static final Pattern STRANGE = Pattern.compile("[^A-Za-z0-9._:-]");
    /** A thread whose group has used up its time holds what it holds, and the JVM's pauses, until the period is over. */
    private static final long PERIOD_US = 10_000;
    /** The least that the operating system takes, and the longest period. */
    private static final long LEAST_QUOTA_US = 1_000;

    private static final long LONGEST_PERIOD_US = 1_000_000;

    private static final String REMEDY =
            "; start the node in a group of its own that is delegated to it: by a systemd unit with Delegate=cpu";

    private final ControlGroup given;
    private final ControlGroup node;
    private final @Nullable String controller;
    /** In which this has enabled the controller, the last one first. */
    private final Deque<ControlGroup> enabled = new ArrayDeque<>();

    private final Map<String, Group> groups = new HashMap<>();
    private boolean closed;
    /** Threads that could not be moved. */
    private long failures;

    private LinuxServiceGroups(ControlGroup given, @Nullable String controller) {
        this.given = given;
        this.node = given.folder().endsWith(NODE) ? given : given.child(NODE);
        this.controller = controller;
    }

    /** Returns what can be had of that here. Moves the process; the calling thread ends where the process is. */
    public static ServiceGroups of(ServiceGrouping wanted) {
        if (wanted == ServiceGrouping.OFF) {
            return NONE;
        }
        if (!Platform.isLinux()) {
            return unavailable(System.getProperty("os.name") + " has no cgroups");
        }
        try {
            return in(ControlGroup.ofThisProcess(), "cpu");
        } catch (IOException e) {
            return unavailable(e.getMessage() + REMEDY);
        }
    }

    /**
     * Returns those in this group, in which the process is.
     *
     * @param controller that the groups are to have; null = none
     */
    static ServiceGroups in(ControlGroup given, @Nullable String controller) {
        LinuxServiceGroups groups = new LinuxServiceGroups(given, controller);
        try {
            groups.begin();
            return groups;
        } catch (IOException e) {
            groups.close();
            return unavailable(e.getMessage() + REMEDY);
        }
    }

    private static ServiceGroups unavailable(String why) {
        return new ServiceGroups() {
            @Override
            public Member join(String service, double processors) {
                return Member.OF_NONE;
            }

            @Override
            public void stayOut() {}

            @Override
            public String text() {
                return "each thread for itself: " + why;
            }

            @Override
            public void close() {}
        };
    }

    private void begin() throws IOException {
        if (!given.has("cgroup.controllers", controller)) {
            throw new IOException(given.folder() + " has no controller " + controller + ", which cgroup v1 may have");
        }
        if (isOwn()) {
            node.make().write("cgroup.procs", ControlGroup.SELF);
            enable(given); // Refused while other processes are in it.
        }
        for (ControlGroup left : node.children(PREFIX)) {
            tryRemove(left);
        }
        ControlGroup probe = node.child(PREFIX).makeThreaded(); // No service has that name.
        enable(node);
        probe.enter();
        node.enter();
        probe.remove();
    }

    /** Returns whether the node's group is of this one's making. */
    private boolean isOwn() {
        return !node.equals(given);
    }

    private void enable(ControlGroup group) throws IOException {
        if (!group.has("cgroup.subtree_control", controller)) {
            group.write("cgroup.subtree_control", "+" + controller);
            enabled.push(group);
        }
    }

    @Override
    public Member join(String service, double processors) {
        Group group;
        try {
            group = group(name(service), processors);
        } catch (IOException e) {
            failed(service, e);
            return Member.OF_NONE;
        }
        try {
            group.control.enter();
            return group;
        } catch (IOException e) {
            failed(service, e);
            group.left();
            return Member.OF_NONE;
        }
    }

    private synchronized Group group(String name, double processors) throws IOException {
        if (closed) {
            throw new IOException("the node stops");
        }
        Group group = groups.get(name);
        if (group == null) {
            sweep();
            if (groups.size() >= MAX_GROUPS) {
                throw new IOException(MAX_GROUPS + " services have groups already, and there are no more");
            }
            ControlGroup control = node.child(name);
            try {
                group = new Group(name, control.makeThreaded());
            } catch (IOException e) {
                tryRemove(control);
                throw e;
            }
            groups.put(name, group);
        }
        group.members++;
        group.limit(processors);
        return group;
    }

    /** Removes groups that threads were left in, which have ended since. */
    private void sweep() {
        for (Iterator<Group> each = groups.values().iterator(); each.hasNext(); ) {
            Group group = each.next();
            if (group.members == 0 && tryRemove(group.control)) {
                each.remove();
            }
        }
    }

    private static boolean tryRemove(ControlGroup group) {
        try {
            group.remove();
            return true;
        } catch (IOException e) {
            return false; // Threads are in it.
        }
    }

    /** Takes note, and logs the first. */
    private synchronized void failed(String whose, IOException e) {
        if (failures++ == 0) {
            LOG.warn(
                    "groups: {}: a thread stays where it is: {}; more of that are only counted", whose, e.getMessage());
        }
    }

    @Override
    public void stayOut() {
        try {
            node.enter();
        } catch (IOException e) {
            failed("the node", e);
        }
    }

    /** One service's. Its fields are guarded by the outer lock. */
    private final class Group implements Member {
        private final String name;
        private final ControlGroup control;
        private int members;
        /** That was written; another node may have left one. */
        private double limit = Double.NaN;

        Group(String name, ControlGroup control) {
            this.name = name;
            this.control = control;
        }

        /** Has it held to this. A version that was configured anew may have another limit than the one before. */
        void limit(double processors) {
            if (processors != limit && controller != null) {
                try {
                    control.write("cpu.max", quota(processors));
                    limit = processors;
                } catch (IOException e) {
                    failed(name, e); // Between packets the node holds it all the same.
                }
            }
        }

        @Override
        public void leave() {
            stayOut();
            left();
        }

        void left() {
            synchronized (LinuxServiceGroups.this) {
                if (--members == 0 && tryRemove(control)) {
                    groups.remove(name);
                }
            }
        }
    }

    /** Returns what cpu.max takes: time of processors, in µs, in a period, which is as short as that can be. */
    static String quota(double processors) {
        if (processors == 0) {
            return "max " + PERIOD_US;
        }
        long periodUs = Math.max(PERIOD_US, Math.min(LONGEST_PERIOD_US, Math.round(LEAST_QUOTA_US / processors)));
        return Math.max(LEAST_QUOTA_US, Math.round(processors * periodUs)) + " " + periodUs;
    }

    /** Returns the name of a folder: no other than those of groups, whatever the service is called. */
    static String name(String service) {
        String plain = STRANGE.matcher(service).replaceAll("_");
        if (plain.equals(service) && plain.length() <= MAX_NAME) {
            return PREFIX + plain;
        }
        return PREFIX + plain.substring(0, Math.min(MAX_NAME, plain.length())) + "-"
                + UUID.nameUUIDFromBytes(service.getBytes(StandardCharsets.UTF_8));
    }

    @Override
    public synchronized String text() {
        return "services share processors as groups of threads, in " + node.folder()
                + (failures == 0 ? "" : "; threads that could not be moved: " + failures);
    }

    @Override
    public synchronized void close() {
        closed = true;
        try {
            if (isAlone()) {
                while (!enabled.isEmpty()) {
                    enabled.pop().write("cgroup.subtree_control", "-" + controller);
                }
                given.write(
                        "cgroup.procs", ControlGroup.SELF); // All threads, those of services that do not return too.
            }
        } catch (IOException e) {
            LOG.debug("groups: {}", e.getMessage()); // What is left ends with the group that the node was given.
        }
        groups.values().forEach(group -> tryRemove(group.control));
        groups.clear();
        tryRemove(node.child(PREFIX));
        if (isOwn()) {
            tryRemove(node);
        }
    }

    /** Returns whether no other node is in the group. */
    private boolean isAlone() throws IOException {
        return node.read("cgroup.procs")
                .equals(String.valueOf(ProcessHandle.current().pid()));
    }
}
