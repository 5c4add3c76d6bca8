package org.tamanoir.transport;

import com.sun.jna.Platform;
import org.tamanoir.platform.Starter;

/**
 * A daemon thread for work that streams must not feel, such as loading code. On Linux it is {@value #NICE} steps
 * nicer than the others: where the processors are busy it gets a tenth of the time of one that is not, where they are
 * not it loses nothing. Threads that it starts without a {@link Starter} are as nice. Elsewhere it is a thread like any other.
 */
public final class BackgroundThread extends Thread implements Starter.Background {
    /** setpriority(2): each step is worth about a quarter of processor time. */
    private static final int NICE = 10;
    /** setpriority(2): the calling thread. */
    private static final int SELF = 0;

    /** Makes a thread that is not started. */
    public BackgroundThread(String name, Runnable task) {
        super(task, name);
        setDaemon(true);
    }

    @Override
    public void run() {
        if (Platform.isLinux()) {
            try {
                LibC.setpriority(LibC.PRIO_PROCESS, SELF, NICE);
            } catch (LinkageError e) {
                // Without native calls it is a thread like any other.
            }
        }
        super.run();
    }
}
