package org.tamanoir.deploy;

import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.tamanoir.format.Format;
import org.tamanoir.format.FormatException;
import org.tamanoir.format.FormatId;
import org.tamanoir.format.FormatLimits;
import org.tamanoir.format.text.ExactJson;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Formats on their way between nodes: as files of a repository, and in the HTTP protocol of FFS's own format server.
 *
 * <pre>
 * GET  base/formats/ID            the description's bytes           ID: 24 hexadecimal digits
 * GET  base/formats/ID.sig        its signature, if it has one
 * GET  base/v1/formats/ID         {"format_rep":"hexadecimal digits of the description"}
 * POST base/v1/formats            the same as a body, answered by {"server_id":"ID"}
 * </pre>
 */
public final class FormatFile {
    /** The longest body: twice a description, and the JSON around it. */
    public static final int MAX_JSON_BYTES = 2 * FormatLimits.DESCRIPTION_BYTES + 1024;

    private static final JsonMapper JSON = new JsonMapper();
    private static final String DESCRIPTION = "format_rep";

    private FormatFile() {}

    /** Returns the file of a description, below a repository's address. */
    public static String path(FormatId id) {
        return "formats/" + id;
    }

    /** Returns what is asked for in FFS's protocol, below the server's address. */
    public static String question(FormatId id) {
        return "v1/formats/" + id;
    }

    /**
     * Returns what a publisher signs: {@code tamanoir format ID}, an end of line, the description. An identifier is no
     * proof of its description: its hash can be met on purpose.
     */
    public static byte[] signed(Format format) {
        byte[] head = ("tamanoir format " + format.id() + "\n").getBytes(StandardCharsets.US_ASCII);
        byte[] description = format.description();
        byte[] all = new byte[head.length + description.length];
        System.arraycopy(head, 0, all, 0, head.length);
        System.arraycopy(description, 0, all, head.length, description.length);
        return all;
    }

    /** Returns the body that carries a description. */
    public static byte[] toJson(byte[] description) {
        return JSON.writeValueAsBytes(Map.of(DESCRIPTION, HexFormat.of().formatHex(description)));
    }

    /**
     * Returns the description that a body carries.
     *
     * @throws IllegalArgumentException in one line
     */
    public static byte[] ofJson(byte[] body) {
        try {
            JsonNode digits = JSON.readTree(ExactJson.text(body)).get(DESCRIPTION);
            if (digits != null && digits.isString()) {
                return HexFormat.of().parseHex(digits.asString());
            }
        } catch (JacksonException | FormatException | IllegalArgumentException e) {
            throw noDescription(e);
        }
        throw noDescription(null);
    }

    private static IllegalArgumentException noDescription(@Nullable Exception cause) {
        return new IllegalArgumentException(
                "body without a description: {\"" + DESCRIPTION + "\":\"hexadecimal digits\"} is wanted", cause);
    }
}
