package org.tamanoir.services.extra.transcode;

import java.util.Arrays;

/**
 * Chooses which pictures of a film go on where not all can: pictures I always; P from the group's beginning until their
 * share is used up, since one that is missing spoils all behind it up to the next I; B, which nothing is computed from,
 * spread evenly. B are given up first, then P from the group's end.
 *
 * <p>A group begins with an I. What it may have is known from the one before, byte for byte:
 *
 * <pre>
 *   budget  = came · percent / 100, or rate · duration; and what was left over or overdrawn, one budget at most
 *   P share = (budget − I) / P,  B share = (budget − I − P) / B,  each from 0 to 1
 * </pre>
 *
 * <p>In the first group all P go on and no B. B that follow an I at once are computed from the group before too, so they
 * go where that one was cut.
 *
 * <p>Thread contract: one thread.
 */
final class Thinning {
    /** Pictures of a group that is planned for; a longer one is parted. */
    private static final int MAX_PICTURES = 256;

    private static final long NS_PER_SECOND = 1_000_000_000;

    private final int percent;
    private final long bytesPerSecond;
    /** Bytes by kind since the plan was made, and those that went on. */
    private final long[] came = new long[PictureKind.values().length];

    private final long[] kept = new long[came.length];
    private long planNs;
    private long credit;
    private int pictures;
    private boolean isPlanned;
    private boolean isParted;
    private long pBytes;
    /** Half of a P, where their ends are known: the share is met as closely as whole ones can. */
    private long pHalf;

    private int pPictures;
    private double pShare = 1;
    private double bShare;
    private double bDue;
    /** A P is missing, and with it all that follows up to the next I. */
    private boolean isCut;
    /** The group before was cut, and no P of this one has come. */
    private boolean isBehindCut;

    private PictureKind kind = PictureKind.NONE;
    private boolean keeps = true;

    /**
     * Makes one for a flow.
     *
     * @param percent of the bytes that come
     * @param bytesPerSecond 0: by {@code percent}
     */
    Thinning(int percent, long bytesPerSecond, long nowNs) {
        this.percent = percent;
        this.bytesPerSecond = bytesPerSecond;
        planNs = nowNs;
        bShare = isFree() ? 1 : 0;
    }

    private boolean isFree() {
        return percent == 100 && bytesPerSecond == 0;
    }

    /** Begins a picture of this kind, or goes on with what all need. Returns whether it goes on. */
    boolean begin(PictureKind next, long nowNs) {
        kind = next;
        if (next != PictureKind.NONE) {
            if (next == PictureKind.I || pictures >= MAX_PICTURES) {
                plan(nowNs);
            }
            pictures++;
            pPictures += next == PictureKind.P ? 1 : 0;
        }
        keeps = switch (next) {
            case I -> keepI();
            case P -> keepP();
            case B -> keepB();
            case NONE -> true;
        };
        return keeps;
    }

    /** Goes on with what was begun last. Where no B part them, several P are one here, and end with their share. */
    boolean goOn() {
        keeps &= kind != PictureKind.P || isParted || keepP();
        return keeps;
    }

    private boolean keepI() {
        isBehindCut = isCut;
        isCut = false;
        return true;
    }

    private boolean keepP() {
        isCut |= isPlanned && pShare < 1 && kept[PictureKind.P.ordinal()] + pHalf >= pShare * pBytes;
        isBehindCut &= isCut;
        return !isCut;
    }

    private boolean keepB() {
        if (isCut || isBehindCut) {
            return false;
        }
        bDue += bShare;
        if (bDue < 1) {
            return false;
        }
        bDue -= 1;
        return true;
    }

    /** Counts bytes of the picture that was begun last. */
    void count(int bytes) {
        came[kind.ordinal()] += bytes;
        if (keeps) {
            kept[kind.ordinal()] += bytes;
        }
    }

    private void plan(long nowNs) {
        if (pictures == 0) {
            return;
        }
        if (!isFree()) {
            long all = sum(came);
            long allowed = bytesPerSecond == 0
                    ? all / 100 * percent + all % 100 * percent / 100
                    : (long) ((double) bytesPerSecond * (nowNs - planNs) / NS_PER_SECOND);
            credit = Math.max(-allowed, Math.min(allowed, credit + allowed - sum(kept)));
            long budget = allowed + credit - came[PictureKind.I.ordinal()] - came[PictureKind.NONE.ordinal()];
            isParted = came[PictureKind.B.ordinal()] > 0;
            pBytes = came[PictureKind.P.ordinal()];
            pHalf = isParted ? pBytes / Math.max(1, pPictures) / 2 : 0;
            pShare = share(budget, pBytes);
            bShare = share(budget - pBytes, came[PictureKind.B.ordinal()]);
            isPlanned = true;
        }
        Arrays.fill(came, 0);
        Arrays.fill(kept, 0);
        planNs = nowNs;
        pictures = 0;
        pPictures = 0;
    }

    /** A kind that did not come last time may have what is left, if there is something. */
    private static double share(long budget, long bytes) {
        return bytes == 0 ? (budget > 0 ? 1 : 0) : Math.max(0, Math.min(1, (double) budget / bytes));
    }

    private static long sum(long[] bytes) {
        return bytes[0] + bytes[1] + bytes[2] + bytes[3];
    }
}
