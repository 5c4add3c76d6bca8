package org.tamanoir.format;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;

class FormatRegistryTest {
    private static Format format(int number) {
        return Format.builder(Layout.X86_64)
                .structure("s" + number)
                .field("a", "integer")
                .build();
    }

    @Test
    void aFormatIsFoundByWhereItsIdentifierLies() {
        FormatRegistry registry = new FormatRegistry(100, 1 << 20);
        Format format = registry.add(format(1));
        ByteBuffer memory = ByteBuffer.allocate(32);
        format.id().write(memory, 5);
        assertSame(format, registry.find(memory, 5, 12));
        assertNull(registry.find(memory, 5, 11));
        assertNull(registry.find(memory, 6, 12));
    }

    @Test
    void theSameFormatAgainIsTheOneThatIsKept() {
        FormatRegistry registry = new FormatRegistry(100, 1 << 20);
        assertSame(registry.add(format(1)), registry.add(format(1)));
        assertEquals(1, registry.size());
    }

    @Test
    void aFloodOfFormatsStaysWithinTheBounds() {
        FormatRegistry registry = new FormatRegistry(64, 4_000);
        for (int i = 0; i < 10_000; i++) {
            registry.add(format(i));
            assertTrue(registry.bytes() <= 4_000);
        }
        assertTrue(registry.size() <= 64);
        assertEquals(10_000, registry.size() + registry.evicted());
    }

    @Test
    void whatIsAskedForStaysWhenOthersGo() {
        FormatRegistry registry = new FormatRegistry(8, 1 << 20);
        Format kept = registry.add(format(0));
        for (int i = 1; i < 1_000; i++) {
            registry.add(format(i));
            assertNotNull(registry.find(kept.id()), () -> "after " + registry.evicted());
        }
    }

    @Test
    void aDescriptionOverTheLimitIsRefused() {
        FormatRegistry registry = new FormatRegistry(8, 10);
        assertThrows(FormatException.class, () -> registry.add(format(0)));
    }
}
