package org.tamanoir.kernel;

/** The same of the header for plain IP and {@link PlainAbi}. */
class PlainAbiTest extends AbiTest {
    @Override
    String header() {
        return "tamanoir_plain.h";
    }

    @Override
    String prefix() {
        return "PLAIN_";
    }

    @Override
    Class<?> java() {
        return PlainAbi.class;
    }
}
