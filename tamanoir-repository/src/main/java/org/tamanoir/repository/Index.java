package org.tamanoir.repository;

import java.io.IOException;
import java.util.List;
import org.tamanoir.format.text.JsonFaults;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.MapperFeature;
import tools.jackson.databind.json.JsonMapper;

/**
 * The file {@code index.json}: every version of every service, by name and version.
 *
 * <pre>{@code
 * {"format":1,"services":[{"name":"org.example.Foo","version":"1.0","key":"...","octets":30212,"sha256":"...",
 *   "publisher":"...","description":"...","published":"2026-11-21T08:00:00Z","yanked":null}]}
 * }</pre>
 *
 * @param format {@value #FORMAT}
 */
record Index(int format, List<IndexEntry> services) {
    static final int FORMAT = 1;
    /** What a repository holds at most; an entry has below 1.2 KB. */
    static final int MAX_VERSIONS = 20_000;

    /** The largest index that is read. */
    static final int MAX_BYTES = 32 << 20;

    private static final JsonMapper JSON = JsonMapper.builder()
            .disable(MapperFeature.SORT_PROPERTIES_ALPHABETICALLY)
            .build();

    Index {
        services = List.copyOf(services);
    }

    byte[] encode() {
        return JSON.writeValueAsBytes(this);
    }

    /** @throws IOException in one line */
    static Index decode(byte[] bytes) throws IOException {
        try {
            Index index = JSON.readValue(bytes, Index.class);
            if (index.format != FORMAT || index.services.size() > MAX_VERSIONS) {
                throw new IOException("index of format " + index.format + " with " + index.services.size()
                        + " versions: format " + FORMAT + " with at most " + MAX_VERSIONS + " is wanted");
            }
            return index;
        } catch (JacksonException e) {
            throw new IOException("no index of a repository: " + JsonFaults.why(e), e);
        } catch (NullPointerException e) {
            throw new IOException("no index of a repository: a field lacks", e);
        }
    }
}
