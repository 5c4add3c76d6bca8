package org.tamanoir.node.admin;

import java.util.List;
import org.tamanoir.auth.AuthKey;
import org.tamanoir.auth.AuthRules;
import org.tamanoir.auth.Authentication;

/**
 * The keys by which the node authenticates packets, for an operator: he adds and removes them, and sees which there are.
 * No answer has a secret.
 *
 * <p>Thread contract: any thread.
 */
final class AuthRequests {
    private final Authentication authentication;

    AuthRequests(Authentication authentication) {
        this.authentication = authentication;
    }

    /**
     * What is checked and signed.
     *
     * @param sign each as {@code WHAT=KEY}
     */
    record Status(
            List<String> from,
            List<String> to,
            List<String> sign,
            int replayWindow,
            int replayStreams,
            List<Key> keys) {}

    /**
     * A key without its secret.
     *
     * @param id 1 to 4294967295
     * @param bytes of the secret
     * @param source {@code file} or {@code api}
     * @param signs whether packets that leave are signed with it
     * @param streams under it that are remembered, so that no packet of them is taken twice
     * @param forgotten streams that are not any more
     */
    record Key(long id, int bytes, String source, boolean signs, int streams, long forgotten) {}

    Status status() {
        AuthRules rules = authentication.rules();
        return new Status(
                rules.from().stream().map(AuthRules.Guarded::toString).toList(),
                rules.to().stream().map(AuthRules.Guarded::toString).toList(),
                rules.signers().stream().map(AuthRules.Signer::toString).toList(),
                rules.windowPackets(),
                rules.streams(),
                authentication.keys().stream().map(AuthRequests::key).toList());
    }

    private static Key key(Authentication.Shown key) {
        return new Key(
                Integer.toUnsignedLong(key.id()),
                key.bytes(),
                key.isOfFile() ? "file" : "api",
                key.signs(),
                key.streams(),
                key.forgotten());
    }

    Status add(Call call) throws ApiException {
        int id = id(call);
        JsonFields fields = call.fields();
        String secret = fields.text("secret");
        if (secret == null) {
            fields.problem("secret is missing: hexadecimal digits are wanted, as openssl rand -hex 32 makes");
        }
        fields.check();
        AuthKey key;
        try {
            key = AuthKey.of(id, String.valueOf(secret));
        } catch (IllegalArgumentException e) {
            throw new ApiException(ApiException.INVALID, String.valueOf(e.getMessage()));
        }
        try {
            authentication.add(key);
        } catch (IllegalArgumentException e) {
            throw new ApiException(ApiException.CONFLICT, String.valueOf(e.getMessage()));
        }
        return status();
    }

    Status remove(Call call) throws ApiException {
        int id = id(call);
        try {
            if (!authentication.remove(id)) {
                throw new ApiException(ApiException.NOT_FOUND, "there is no key " + AuthKey.text(id));
            }
        } catch (IllegalArgumentException e) {
            throw new ApiException(ApiException.CONFLICT, String.valueOf(e.getMessage()));
        }
        return status();
    }

    private static int id(Call call) throws ApiException {
        try {
            return AuthKey.id(call.path("id"));
        } catch (IllegalArgumentException e) {
            throw new ApiException(ApiException.INVALID, Replies.shortened(String.valueOf(e.getMessage())));
        }
    }
}
