package org.tamanoir.services.extra.transcode;

/** Kinds of pictures of a film, the least dispensable first. */
enum PictureKind {
    /** Stands by itself; those behind it are computed from it. */
    I,
    /** Computed from the one before, and needed for those behind. */
    P,
    /** Computed from others, and needed for none. */
    B,
    /** No picture: what all need. */
    NONE
}
