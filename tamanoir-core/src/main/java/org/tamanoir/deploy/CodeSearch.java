package org.tamanoir.deploy;

import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.ServiceKey;

/**
 * The search for the code of one key: what the operator configured first, then nodes that sent streams. They are told
 * apart because the latter are strangers, whom nobody must have to wait for.
 *
 * <p>Thread contract: any thread; calls block, in bounded time. Several nodes can be asked at once.
 */
public final class CodeSearch {
    /** Answers that the line of {@link #failure} names; what comes beyond is counted. */
    private static final int MAX_LINES = 16;

    private final CodeFetcher fetcher;
    private final CodeRetrieval retrieval;
    private final List<String> lines = new ArrayList<>();
    private int linesLeftOut;
    private @Nullable CodeRefusedException refusal;
    private boolean unknown = true;
    private boolean ended;

    CodeSearch(CodeFetcher fetcher, CodeRetrieval retrieval) {
        this.fetcher = fetcher;
        this.retrieval = retrieval;
    }

    CodeRetrieval retrieval() {
        return retrieval;
    }

    /** Looks into the cache, then asks the repositories in their order; null when none has the code. */
    public @Nullable ServicePackage configured() {
        return fetcher.configured(this);
    }

    /**
     * Asks the code server of a node that sent a stream, in a time of its own; null when it does not give the code.
     *
     * @param base its base address
     */
    public @Nullable ServicePackage previousNode(URI base) {
        return fetcher.previousNode(this, base);
    }

    synchronized void absent(CodeSource source) {
        add(source + " has no such service");
    }

    synchronized void failed(String line) {
        unknown = false;
        add(line);
    }

    synchronized void refused(String source, CodeRefusedException e) {
        unknown = false;
        if (refusal == null) {
            refusal = e;
            lines.add(0, source + ": " + e.getMessage());
        } else {
            add(source + ": " + e.getMessage());
        }
    }

    /** Ends the search, as this node itself cannot go on: nobody else is asked. */
    synchronized void end(String line) {
        failed(line);
        ended = true;
    }

    synchronized boolean isEnded() {
        return ended;
    }

    private void add(String line) {
        if (lines.size() < MAX_LINES) {
            lines.add(line);
        } else {
            linesLeftOut++;
        }
    }

    /**
     * Returns why there is no code, in one line with each answer.
     *
     * @throws CodeRefusedException if code was found and none of it may run: the first refusal
     */
    public synchronized CodeUnavailableException failure() throws CodeRefusedException {
        String line = "service key " + ServiceKey.toString(retrieval.key()) + ": "
                + (lines.isEmpty() ? "there is no repository, and no previous node to ask" : String.join("; ", lines))
                + (linesLeftOut == 0 ? "" : "; and " + linesLeftOut + " more");
        if (refusal != null) {
            throw new CodeRefusedException(refusal.refusal(), line);
        }
        return new CodeUnavailableException(line, unknown);
    }
}
