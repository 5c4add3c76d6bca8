package org.tamanoir.deploy;

/** Why code is not run. The list is closed: log, metrics and API name these. */
public enum Refusal {
    /** There is no signature, and the operator does not allow that. */
    UNSIGNED,
    /** The signature does not fit the manifest's bytes. */
    BAD_SIGNATURE,
    /** No publisher with this key is trusted. */
    UNTRUSTED_KEY,
    /** The publisher's key was revoked. */
    REVOKED_KEY,
    /** The publisher is trusted, but not for services of this name. */
    NOT_FOR_THIS_NAME,
    /** This jar was revoked. */
    REVOKED_DIGEST,
    /** The manifest is for another service or version than was asked for. */
    WRONG_SERVICE,
    /** A manifest or signature that cannot be read. */
    MALFORMED,
    /** The jar is not the one that the manifest names. */
    WRONG_DIGEST,
    /** The source sent more, or less, than the manifest says. */
    WRONG_SIZE,
    /** More than this node's limit, packed or unpacked. */
    TOO_LARGE,
    /** An older version than the node has had already, for a key that means the newest. */
    DOWNGRADE,
    /** The jar holds no such service, or one that cannot be loaded. */
    NOT_A_SERVICE
}
