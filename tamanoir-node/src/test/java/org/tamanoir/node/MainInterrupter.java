package org.tamanoir.node;

import org.tamanoir.anep.Packet;
import org.tamanoir.service.Service;
import org.tamanoir.service.Verdict;

/** A service that interrupts the main thread of its JVM with each packet. */
public final class MainInterrupter extends Service {
    @Override
    public Verdict process(Packet packet) {
        Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().equals("main"))
                .forEach(Thread::interrupt);
        return Verdict.FORWARD;
    }
}
