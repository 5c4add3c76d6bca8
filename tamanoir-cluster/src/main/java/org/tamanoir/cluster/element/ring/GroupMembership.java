package org.tamanoir.cluster.element.ring;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import javax.crypto.spec.SecretKeySpec;
import org.jgroups.Address;
import org.jgroups.JChannel;
import org.jgroups.Receiver;
import org.jgroups.View;
import org.jgroups.protocols.FD_ALL3;
import org.jgroups.protocols.MERGE3;
import org.jgroups.protocols.SYM_ENCRYPT;
import org.jgroups.protocols.TCP;
import org.jgroups.protocols.TCPPING;
import org.jgroups.protocols.UNICAST3;
import org.jgroups.protocols.VERIFY_SUSPECT2;
import org.jgroups.protocols.pbcast.GMS;
import org.jgroups.protocols.pbcast.NAKACK2;
import org.jgroups.protocols.pbcast.STABLE;
import org.jgroups.util.ExtendedUUID;
import org.tamanoir.platform.Causes;

/**
 * Membership by JGroups: a unit is there as long as it is in the group's view. Its channel carries nothing but that.
 * {@link #start} waits until a group is joined or made, a few seconds at most.
 *
 * <p>Thread contract: {@link #start} and {@link #close} once each, any thread.
 */
public final class GroupMembership implements Membership {
    private static final String UNIT = "unit";
    private static final long MS = 1_000_000;
    private static final int KEY_BYTES = 16;
    /** Then it is a group of its own, which is merged with that of others when they hear of each other. */
    private static final int JOIN_ATTEMPTS = 3;

    private final RingSettings settings;
    private final int unit;
    private final JChannel channel;

    private GroupMembership(RingSettings settings, int unit, JChannel channel) {
        this.settings = settings;
        this.unit = unit;
        this.channel = channel;
    }

    /**
     * Returns a membership with a stack of protocols for few units near each other: TCP on the control addresses, whose
     * port numbers are free there since the ring's are UDP's, all encrypted (AES-CBC: JGroups 5.5 gives no other mode its
     * parameters) under a key made from the ring's, so that nobody joins without it. A unit that says nothing for five
     * idleMax, a second, is suspected.
     *
     * <p>Who can change datagrams on the control network can spoil messages of the group, but not read or make them: at
     * worst units go out of the ring.
     *
     * @throws IOException if JGroups refuses the stack
     */
    public static GroupMembership tcp(RingSettings settings, int unit) throws IOException {
        InetSocketAddress own = Objects.requireNonNull(settings.units().get(unit), "unit " + unit + " is not listed");
        long idleMs = Math.max(settings.plan().idleMaxNs() / MS, 1);
        try {
            return new GroupMembership(
                    settings,
                    unit,
                    new JChannel(
                            new TCP()
                                    .setBindAddress(own.getAddress())
                                    .setBindPort(own.getPort())
                                    .setPortRange(0),
                            new TCPPING()
                                    .setInitialHosts(
                                            List.copyOf(settings.units().values()))
                                    .setPortRange(0),
                            new MERGE3().setMinInterval(5 * idleMs).setMaxInterval(10 * idleMs),
                            new FD_ALL3().setInterval(idleMs).setTimeout(5 * idleMs),
                            new VERIFY_SUSPECT2().setTimeout(idleMs),
                            new SYM_ENCRYPT()
                                    .setSecretKey(new SecretKeySpec(groupKey(settings.key()), "AES"))
                                    .<SYM_ENCRYPT>symAlgorithm("AES/CBC/PKCS5Padding")
                                    .symIvLength(16),
                            new NAKACK2().useMcastXmit(false),
                            new UNICAST3(),
                            new STABLE(),
                            new GMS()
                                    .setJoinTimeout(5 * idleMs)
                                    .setMaxJoinAttempts(JOIN_ATTEMPTS)
                                    .printLocalAddress(false)));
        } catch (Exception e) {
            throw refused(e);
        }
    }

    /**
     * Returns a membership with the stack of JGroups' own configuration file. That file decides on encryption.
     *
     * @throws IOException if JGroups refuses the file
     */
    public static GroupMembership configured(RingSettings settings, int unit, Path file) throws IOException {
        try {
            return new GroupMembership(settings, unit, new JChannel(file.toString()));
        } catch (Exception e) {
            throw refused(e);
        }
    }

    private static IOException refused(Exception e) {
        return new IOException("JGroups refuses its configuration (" + e.getMessage() + "): see its manual", e);
    }

    /** Returns another key than the ring's, so that no key serves two algorithms. */
    private static byte[] groupKey(byte[] ringKey) throws GeneralSecurityException {
        MessageDigest digest = MessageDigest.getInstance("SHA-256");
        digest.update("membership".getBytes(StandardCharsets.US_ASCII));
        return Arrays.copyOf(digest.digest(ringKey), KEY_BYTES);
    }

    @Override
    public void start(Consumer<Set<Integer>> units) throws IOException {
        channel.setName("unit-" + unit);
        channel.addAddressGenerator(() -> ExtendedUUID.randomUUID("unit-" + unit)
                .put(UNIT, Integer.toString(unit).getBytes(StandardCharsets.US_ASCII)));
        channel.setReceiver(new Receiver() {
            @Override
            public void viewAccepted(View view) {
                units.accept(units(view));
            }
        });
        try {
            channel.connect("tamanoir-ring-" + settings.ringId());
        } catch (Exception e) {
            channel.close();
            throw new IOException(
                    "the group of ring " + settings.ringId() + " cannot be entered at "
                            + settings.units().get(unit) + " (" + Causes.text(e) + "): give another control address",
                    e);
        }
    }

    private static Set<Integer> units(View view) {
        Set<Integer> units = new TreeSet<>();
        for (Address member : view.getMembers()) {
            byte[] its = member instanceof ExtendedUUID extended ? extended.get(UNIT) : null;
            if (its != null) {
                units.add(Integer.valueOf(new String(its, StandardCharsets.US_ASCII)));
            }
        }
        return units;
    }

    @Override
    public void close() {
        channel.close();
    }
}
