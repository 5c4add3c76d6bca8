package org.tamanoir.kernel;

/** The kernel refused a netlink request, or did not answer it. */
final class NetlinkException extends Exception {
    private static final long serialVersionUID = 1L;

    private final int errno;

    /** @param errno of the operating system, or 0 where it is not to blame */
    NetlinkException(int errno, String message) {
        super(message);
        this.errno = errno;
    }

    int errno() {
        return errno;
    }
}
