package org.tamanoir.supervision;

/** A call into the code of a service, which may throw anything. */
public interface ServiceCall {
    void run() throws Exception;
}
