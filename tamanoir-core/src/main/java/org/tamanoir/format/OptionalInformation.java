package org.tamanoir.format;

/**
 * What a description carries beside its fields.
 *
 * @param type such as {@link #XML} or {@link #EVOLUTION}
 * @param bytes are kept and not interpreted
 */
public record OptionalInformation(int type, byte[] bytes) {
    /** A template for XML, "XML ". */
    public static final int XML = 0x584D4C20;
    /** An older format and the program to get it, "EVOL". */
    public static final int EVOLUTION = 0x45564F4C;
}
