package org.tamanoir.format.text;

import java.nio.charset.CharacterCodingException;
import org.tamanoir.format.FormatException;
import org.tamanoir.format.FormatFault;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.json.JsonFactory;

/**
 * Reads JSON of bodies and small files for those who go on with a tree of it: what Jackson would change on the way is
 * refused before. Any thread may call.
 */
public final class ExactJson {
    private static final JsonFactory FACTORY = new JsonFactory();

    private ExactJson() {}

    /**
     * Returns the text, which is JSON or nothing.
     *
     * @throws FormatException if it is not UTF-8, or has a surrogate that stands alone or a fraction that no double holds
     * @throws JacksonException if it is no JSON
     */
    public static String text(byte[] body) {
        String text;
        try {
            text = StrictUtf8.decode(body);
        } catch (CharacterCodingException e) {
            throw new FormatException(FormatFault.VALUE, String.valueOf(e.getMessage()));
        }
        try (JsonParser in = FACTORY.createParser(ObjectReadContext.empty(), text)) {
            for (JsonToken token = in.nextToken(); token != null; token = in.nextToken()) {
                boolean isText = token == JsonToken.VALUE_STRING || token == JsonToken.PROPERTY_NAME;
                if (isText && !StrictUtf8.isText(in.getString())) {
                    throw new FormatException(
                            FormatFault.VALUE,
                            "line " + in.currentTokenLocation().getLineNr() + ": a surrogate stands alone");
                }
                if (token == JsonToken.VALUE_NUMBER_FLOAT) {
                    Decimals.floating(in.getString(), Double.BYTES);
                }
            }
        }
        return text;
    }
}
