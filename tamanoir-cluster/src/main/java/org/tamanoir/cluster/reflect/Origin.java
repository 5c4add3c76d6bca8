package org.tamanoir.cluster.reflect;

/** How a member came into its session, and so how it goes. */
public enum Origin {
    /** The configuration lists it. It stays. */
    LISTED,
    /** An operator added it. It stays until an operator removes it. */
    API,
    /** It joined by a cookie. It goes when it is silent, or does not show a fresh cookie. */
    COOKIE
}
