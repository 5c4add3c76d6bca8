package org.tamanoir.cluster.lvs;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Collection;
import java.util.HashSet;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.tamanoir.platform.Causes;

/**
 * Which virtual services of this network namespace a director has made: kept in a file, so that it knows them after a
 * restart. The record belongs to one boot and one network namespace; another's is as good as none. One director at a time
 * holds it: the file is locked.
 *
 * <p>The namespace is that of the thread that opens the record. The lock is on a file of its own, since the record is
 * replaced as a whole; the kernel gives it back when the process ends, however it does.
 *
 * <p>Thread contract: one thread at a time.
 */
public final class Ownership implements AutoCloseable {
    private static final String LOCK = "ipvs-services.lock";
    /** Of a process number. */
    private static final int MAX_HOLDER_BYTES = 32;
    /** Folders held by this process: closing a second channel to a lock's file would give the lock back. */
    private static final Set<Path> HELD = new HashSet<>();

    private final Path folder;
    private final FileChannel lock;
    private final OwnershipRecord.Place place;
    private Set<VirtualAddress> owned;

    private Ownership(Path folder, FileChannel lock, OwnershipRecord.Place place, Set<VirtualAddress> owned) {
        this.folder = folder;
        this.lock = lock;
        this.place = place;
        this.owned = owned;
    }

    /**
     * Opens or makes the record in a folder.
     *
     * @throws ClusterException if another process holds it, what is there is no record, or the disk fails
     */
    public static Ownership open(Path folder) throws ClusterException {
        OwnershipRecord.Place place = OwnershipRecord.here();
        Path real;
        try {
            real = Files.createDirectories(folder).toRealPath();
        } catch (IOException e) {
            throw new ClusterException("cannot make the state folder " + folder + ": " + Causes.text(e), e);
        }
        synchronized (HELD) {
            if (!HELD.add(real)) {
                throw held(folder, Long.toString(ProcessHandle.current().pid()));
            }
        }
        FileChannel lock = null;
        boolean opened = false;
        try {
            lock = lock(real);
            Ownership ownership = new Ownership(real, lock, place, OwnershipRecord.read(real, place));
            opened = true;
            return ownership;
        } finally {
            if (!opened) {
                release(real, lock);
            }
        }
    }

    private static FileChannel lock(Path folder) throws ClusterException {
        Path file = folder.resolve(LOCK);
        FileChannel channel = null;
        try {
            channel = FileChannel.open(
                    file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
            FileLock taken = channel.tryLock();
            if (taken == null) {
                ByteBuffer holder = ByteBuffer.allocate(MAX_HOLDER_BYTES);
                channel.read(holder, 0);
                channel.close();
                throw held(
                        folder, StandardCharsets.US_ASCII.decode(holder.flip()).toString());
            }
            channel.truncate(0);
            channel.write(
                    StandardCharsets.US_ASCII.encode(ProcessHandle.current().pid() + "\n"), 0);
            return channel;
        } catch (IOException e) {
            close(channel);
            throw new ClusterException("cannot lock " + file + ": " + Causes.text(e), e);
        }
    }

    private static ClusterException held(Path folder, String holder) {
        String pid = holder.strip();
        return new ClusterException("another director holds the state folder " + folder
                + (pid.matches("\\d+") ? ": process " + pid : "") + ": end it, or give this one a folder of its own");
    }

    /** Reads the record without taking it; empty if there is none of this boot and namespace. */
    public static Set<VirtualAddress> look(Path folder) throws ClusterException {
        return Set.copyOf(OwnershipRecord.read(folder, OwnershipRecord.here()));
    }

    /** Returns those of the record, sorted. */
    public Set<VirtualAddress> owned() {
        return new TreeSet<>(owned);
    }

    /**
     * Writes down, on the disk before it returns, that these are owned and no others. A director that writes down what it
     * is about to make, before it does, knows it even if it is killed in between.
     */
    public void own(Collection<VirtualAddress> services) throws ClusterException {
        Set<VirtualAddress> all = new TreeSet<>(services);
        if (!lock.isOpen()) {
            throw new ClusterException("the record in " + folder + " is closed");
        }
        if (!all.equals(owned)) {
            OwnershipRecord.write(folder, place, all);
            owned = all;
        }
    }

    @Override
    public void close() {
        if (lock.isOpen()) {
            release(folder, lock);
        }
    }

    private static void release(Path folder, @Nullable FileChannel lock) {
        close(lock);
        synchronized (HELD) {
            HELD.remove(folder);
        }
    }

    private static void close(@Nullable FileChannel channel) {
        try {
            if (channel != null) {
                channel.close();
            }
        } catch (IOException e) {
            // The lock is given back in any case; nothing else is in that file.
        }
    }
}
