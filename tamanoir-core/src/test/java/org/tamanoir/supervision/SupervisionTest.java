package org.tamanoir.supervision;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.ee.TestServices.MARK;
import static org.tamanoir.support.Waiting.async;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.platform.Platform;

/** What reaches a thread that is suspected not to return. */
class SupervisionTest {
    private final Supervision supervision =
            new Supervision(Platform.SYSTEM, MARK, MARK.factory().get(), "suspected");

    @Test
    void aThreadThatHasComeBackIsStoppedInNoLaterCall() {
        supervision.suspect();
        supervision.back();
        supervision.stop(DropReason.SERVICE_FAILURE, 8, "late");
        assertThat(supervision.atCheckpoint(8)).isNull();
    }

    @Test
    void whatStopsAServiceSaysWhereItWas() throws Exception {
        supervision.suspect();
        async(() -> {
                    supervision.stop(DropReason.SERVICE_FAILURE, 8, "from another thread");
                    return null;
                })
                .get(40, TimeUnit.SECONDS);
        assertThat(supervision.atCheckpoint(8))
                .satisfies(thrown -> assertThat(thrown.getStackTrace())
                        .extracting(StackTraceElement::getMethodName)
                        .contains("whatStopsAServiceSaysWhereItWas"));
        supervision.clear();
    }
}
