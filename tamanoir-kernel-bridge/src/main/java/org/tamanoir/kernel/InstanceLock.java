package org.tamanoir.kernel;

import com.sun.jna.Native;
import com.sun.jna.Pointer;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * The right to one of a network namespace's instance numbers: an abstract unix socket of that name, which the kernel
 * frees when the process ends, however it ends.
 *
 * <p>Thread contract: any thread.
 */
final class InstanceLock implements AutoCloseable {
    private static final String NAME = "tamanoir-levels-";
    private static final int FAMILY_BYTES = 2;

    private final int number;
    private final int fd;
    private final AtomicBoolean isClosed = new AtomicBoolean();

    private InstanceLock(int number, int fd) {
        this.number = number;
        this.fd = fd;
    }

    /** Takes a number, 0 to 15; null if a process has it. */
    static @Nullable InstanceLock tryTake(int number) {
        int fd = LibC.socket(LibC.AF_UNIX, LibC.SOCK_DGRAM | LibC.SOCK_CLOEXEC, 0);
        if (fd < 0) {
            return null;
        }
        byte[] name = (NAME + number).getBytes(StandardCharsets.US_ASCII);
        ByteBuffer address = ByteBuffer.allocateDirect(FAMILY_BYTES + 1 + name.length)
                .order(ByteOrder.nativeOrder())
                .putShort((short) LibC.AF_UNIX)
                .put((byte) 0) // abstract
                .put(name);
        if (LibC.bind(fd, Pointer.nativeValue(Native.getDirectBufferPointer(address)), address.capacity()) != 0) {
            LibC.close(fd);
            return null;
        }
        return new InstanceLock(number, fd);
    }

    int number() {
        return number;
    }

    @Override
    public void close() {
        if (isClosed.compareAndSet(false, true)) {
            LibC.close(fd);
        }
    }
}
