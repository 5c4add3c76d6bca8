package org.tamanoir.transport;

import java.nio.ByteBuffer;

/** Memory that system calls read and write, with its address, since to ask for that allocates. */
final class NativeMemory {
    final ByteBuffer bytes;
    final long address;

    NativeMemory(int size) {
        bytes = MessageArray.allocate(size);
        address = MessageArray.addressOf(bytes);
    }
}
