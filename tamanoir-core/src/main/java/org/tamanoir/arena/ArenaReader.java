package org.tamanoir.arena;

import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Looks at the {@link ArenaFile} of another process.
 *
 * <p>Thread contract: any thread.
 */
public final class ArenaReader {
    private static final VarHandle INTS = MethodHandles.byteBufferViewVarHandle(int[].class, ByteOrder.nativeOrder());
    private static final VarHandle LONGS = MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());
    /** Looks at a slot whose label changes. */
    private static final int ATTEMPTS = 16;

    private static final Pattern CONTROL = Pattern.compile("\\p{Cntrl}");

    private static final SlotKind[] KINDS = SlotKind.values();

    private final ByteBuffer all;
    private final int slots;

    private ArenaReader(ByteBuffer all, int slots) {
        this.all = all;
        this.slots = slots;
    }

    /**
     * What a slot shows.
     *
     * @param point name of its scheduling point
     * @param numbers by their places in {@link Fields}
     */
    public record Shown(SlotKind kind, String point, String name, List<Long> numbers) {}

    private record Label(SlotKind kind, int point, String name, List<Long> numbers) {}

    /**
     * Maps a file.
     *
     * @throws IOException in one line, if it cannot be read, is no arena, is cut, or of another version or byte order
     */
    public static ArenaReader open(Path file) throws IOException {
        if (!Files.isRegularFile(file)) {
            throw new IOException("arena " + file + (Files.exists(file) ? ": is no regular file" : ": is not there"));
        }
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            long bytes = channel.size();
            if (bytes < ArenaFile.MAGIC.length) {
                throw refused(file, "is no arena: it has " + bytes + " bytes");
            }
            ByteBuffer all = channel.map(MapMode.READ_ONLY, 0, Math.min(bytes, ArenaFile.BYTES))
                    .order(ByteOrder.nativeOrder());
            if (all.slice(0, ArenaFile.MAGIC.length).mismatch(ByteBuffer.wrap(ArenaFile.MAGIC)) >= 0) {
                throw refused(file, "is no arena: it does not begin with TMNARENA");
            }
            if (bytes < ArenaFile.HEADER) {
                throw refused(file, "is cut: " + bytes + " bytes, and its header has " + ArenaFile.HEADER);
            }
            int order = all.getInt(ArenaFile.ORDER);
            if (order != ArenaFile.ORDER_MARK) {
                throw refused(file, "has the byte order of another processor");
            }
            int version = all.getInt(ArenaFile.VERSION);
            if (version != ArenaFile.CURRENT) {
                throw refused(file, "has layout " + version + ", and this program reads " + ArenaFile.CURRENT);
            }
            if (all.getInt(ArenaFile.HEADER_BYTES) != ArenaFile.HEADER
                    || all.getInt(ArenaFile.SLOT_BYTES) != Slot.BYTES
                    || all.getInt(ArenaFile.SLOT_COUNT) != Arena.SLOTS) {
                throw refused(file, "has other sizes than layout " + version);
            }
            if (bytes < ArenaFile.BYTES) {
                throw refused(file, "is cut: " + bytes + " of " + ArenaFile.BYTES + " bytes");
            }
            return new ArenaReader(all, Arena.SLOTS);
        } catch (NoSuchFileException e) {
            throw refused(file, "is not there");
        } catch (AccessDeniedException e) {
            throw refused(file, "no permission to read it");
        }
    }

    private static IOException refused(Path file, String why) {
        return new IOException("arena " + file + ": " + why);
    }

    /** Returns the process of the node; 0 when it has ended in order. */
    public long process() {
        return (long) LONGS.getOpaque(all, ArenaFile.PROCESS);
    }

    /** Returns whether that process runs, as far as this user may know. */
    public boolean isLive() {
        long process = process();
        return process > 0
                && ProcessHandle.of(process)
                        .filter(ProcessHandle::isAlive)
                        .filter(this::hasBegunThen)
                        .isPresent();
    }

    /** By ticks where they are known: what is computed of the time of day is another when a clock was set meanwhile. */
    private boolean hasBegunThen(ProcessHandle process) {
        long ticks = ArenaFile.startTicks(process.pid());
        return ticks != 0 && all.getLong(ArenaFile.START_TICKS) != 0
                ? ticks == all.getLong(ArenaFile.START_TICKS)
                : isSameOrUnknown(ArenaFile.startMs(process), all.getLong(ArenaFile.START_MS));
    }

    private static boolean isSameOrUnknown(long startMs, long otherMs) {
        return startMs == 0 || otherMs == 0 || startMs == otherMs;
    }

    /** Returns what the slots show that are in use: points, each with its classes, in the order of their slots. */
    public List<Shown> look() {
        List<@Nullable Label> labels = new ArrayList<>();
        for (int index = 0; index < slots; index++) {
            labels.add(label(ArenaFile.HEADER + index * Slot.BYTES));
        }
        List<Shown> shown = new ArrayList<>();
        for (int point = 0; point < slots; point++) {
            Label head = labels.get(point);
            if (head != null && head.point() == point) {
                for (Label each : labels) {
                    if (each != null && each.point() == point) {
                        shown.add(new Shown(each.kind(), head.name(), each.name(), each.numbers()));
                    }
                }
            }
        }
        return shown;
    }

    private @Nullable Label label(int slot) {
        for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
            int change = (int) INTS.getAcquire(all, slot + Slot.CHANGE);
            int kind = all.getInt(slot + Slot.KIND);
            if (kind <= 0 || kind >= KINDS.length) {
                return null;
            }
            int point = all.getInt(slot + Slot.POINT);
            byte[] name = new byte[Math.max(0, Math.min(Slot.MAX_NAME_BYTES, all.getInt(slot + Slot.NAME_BYTES)))];
            all.get(slot + Slot.NAME, name);
            List<Long> numbers = new ArrayList<>();
            for (int field = 0; field < Fields.NAMES.size(); field++) {
                numbers.add((long) LONGS.getOpaque(all, slot + Slot.NUMBERS + field * Long.BYTES));
            }
            VarHandle.loadLoadFence();
            if ((change & 1) == 0 && change == (int) INTS.getOpaque(all, slot + Slot.CHANGE)) {
                return new Label(KINDS[kind], point, text(name), numbers);
            }
        }
        return null;
    }

    /** Whoever wrote the file may have meant a terminal. */
    private static String text(byte[] name) {
        return CONTROL.matcher(new String(name, StandardCharsets.UTF_8)).replaceAll("?");
    }
}
