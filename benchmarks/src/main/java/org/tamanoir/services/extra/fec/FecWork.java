package org.tamanoir.services.extra.fec;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.Objects;
import java.util.function.IntSupplier;
import org.tamanoir.preemption.Checkpoints;
import org.tamanoir.preemption.UnfitClassException;
import org.tamanoir.services.extra.Header;
import org.tamanoir.services.extra.KeyedHash;

/**
 * The arithmetic of one block again and again: repairs of k packets, or k packets of which some are lost. The octets are
 * those of the program in C beside it. One thread.
 */
public final class FecWork {
    private final int k;
    private final int m;
    private final byte[][] data;
    private final ByteBuffer repairs;
    private final RepairSums sums = new RepairSums();
    private final Solver solver = new Solver();
    private final Block block;

    /** Makes {@code k} packets of {@code bytes}. */
    public FecWork(int k, int m, int bytes) {
        this.k = k;
        this.m = m;
        data = new byte[k][bytes];
        int state = 1;
        for (byte[] packet : data) {
            for (int i = 0; i < bytes; i++) {
                state = state * 1_103_515_245 + 12_345;
                packet[i] = (byte) (state >>> 16);
            }
        }
        repairs = ByteBuffer.allocate(m * bytes);
        block = damaged(bytes);
    }

    /** A block whose first m packets are lost. */
    private Block damaged(int bytes) {
        int payloadBytes = bytes - FecHeader.OWN_BYTES;
        Header none = new Header();
        Symbols symbols = new Symbols();
        OpenBlock open = new OpenBlock().begin(new FecFlow(none, 1, new RepairNeed(m, m)), 0, m);
        Block made = new Block(new KeyedHash()).begin(1, 0, 0, new byte[0]);
        for (int i = 0; i < k; i++) {
            int written = symbols.write(ByteBuffer.wrap(data[i], 0, payloadBytes), 0, 0);
            open.add(symbols.octets(), written, none);
            if (i >= m) {
                made.grow(made.growth(bytes));
                made.add(i, ByteBuffer.wrap(data[i], 0, payloadBytes), 0, 0);
            }
        }
        for (int r = 0; r < m; r++) {
            ByteBuffer sum = ByteBuffer.allocate(bytes);
            open.writeRepair(r, sum);
            made.grow(made.growth(bytes));
            made.addRepair(r, k, m, sum.flip());
        }
        return made;
    }

    /** Makes the repairs. Returns one of their octets. */
    public int encode() {
        sums.begin(m);
        for (int i = 0; i < k; i++) {
            sums.add(i, data[i], 0, data[i].length);
        }
        repairs.clear();
        for (int r = 0; r < m; r++) {
            sums.write(r, repairs);
        }
        return repairs.get(0);
    }

    /** Gets m lost packets back. Returns an octet of the first. */
    public int solve() {
        solver.solve(block);
        return solver.octets()[FecHeader.OWN_BYTES];
    }

    /** Returns the repairs of the last {@link #encode}. */
    public byte[] repairs() {
        return repairs.array().clone();
    }

    /** Encodes; for a class loader that hands out nothing else. */
    public static final class Encode implements IntSupplier {
        private final FecWork work;

        /** Of such a block. */
        public Encode(Integer k, Integer m, Integer bytes) {
            work = new FecWork(k, m, bytes);
        }

        @Override
        public int getAsInt() {
            return work.encode();
        }
    }

    /** Gets back. */
    public static final class Solve implements IntSupplier {
        private final FecWork work;

        /** Of such a block. */
        public Solve(Integer k, Integer m, Integer bytes) {
            work = new FecWork(k, m, bytes);
        }

        @Override
        public int getAsInt() {
            return work.solve();
        }
    }

    private static final class Loader extends ClassLoader {
        Loader() {
            super(FecWork.class.getClassLoader());
        }

        @Override
        protected synchronized Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (!name.startsWith(FecWork.class.getPackageName()) || findLoadedClass(name) != null) {
                return super.loadClass(name, resolve);
            }
            try (InputStream in =
                    Objects.requireNonNull(getResourceAsStream(name.replace('.', '/') + ".class"), name)) {
                byte[] file = Checkpoints.put(in.readAllBytes());
                return defineClass(name, file, 0, file.length);
            } catch (IOException | UnfitClassException e) {
                throw new ClassNotFoundException(name, e);
            }
        }
    }

    /** Returns that work of classes that are loaded anew, with the checkpoints that a node puts into them. */
    public static IntSupplier deployed(Class<? extends IntSupplier> work, int k, int m, int bytes)
            throws ReflectiveOperationException {
        return (IntSupplier) new Loader()
                .loadClass(work.getName())
                .getConstructor(Integer.class, Integer.class, Integer.class)
                .newInstance(k, m, bytes);
    }
}
