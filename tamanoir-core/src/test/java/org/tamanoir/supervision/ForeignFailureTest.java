package org.tamanoir.supervision;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ForeignFailureTest {
    private static final class Unreadable extends RuntimeException {
        private static final long serialVersionUID = 1;

        @Override
        public String toString() {
            throw new StackOverflowError();
        }

        @Override
        public StackTraceElement[] getStackTrace() {
            throw this;
        }
    }

    private static final class Nameless extends RuntimeException {
        private static final long serialVersionUID = 1;

        @Override
        @SuppressWarnings("NullAway") // As a service may.
        public String toString() {
            return null;
        }
    }

    @Test
    void whatCannotBeReadIsItsClassName() {
        assertThat(ForeignFailure.of(new Unreadable())).hasToString(Unreadable.class.getName());
        assertThat(ForeignFailure.of(new Nameless())).hasToString(Nameless.class.getName());
    }

    @Test
    void theTextIsOneLineOfBoundedLength() {
        String text = ForeignFailure.of(new IllegalStateException("a\nb\u001b" + "x".repeat(100_000)))
                .toString();
        assertThat(text).startsWith("java.lang.IllegalStateException: a b xxx").endsWith("x...");
        assertThat(text).hasSizeLessThanOrEqualTo(ForeignFailure.MAX_LENGTH + 3);
    }

    @Test
    void whereItWasThrownIsKept() {
        IllegalStateException thrown = new IllegalStateException("here");
        assertThat(ForeignFailure.of(thrown).getStackTrace()[0]).isEqualTo(thrown.getStackTrace()[0]);
    }

    @Test
    void itIsReadOnce() {
        ForeignFailure read = ForeignFailure.of(new Unreadable());
        assertThat(ForeignFailure.of(read)).isSameAs(read);
        assertThat(read.kind()).isEqualTo(Unreadable.class.getName());
    }
}
