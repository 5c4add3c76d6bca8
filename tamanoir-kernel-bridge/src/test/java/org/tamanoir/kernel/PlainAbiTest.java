package org.tamanoir.kernel;

/** The same of the header for plain IP and {@link PlainAbi}. */
class PlainAbiTest extends AbiTest {
    PlainAbiTest() {
        super("tamanoir_plain.h", "PLAIN_", PlainAbi.class);
    }
}
