package org.tamanoir.node.ctl;

import org.tamanoir.node.config.AdminConfig;

/** What has an admin API, as errors and options name it. */
public enum AdminKind {
    NODE("node", "--admin", AdminConfig.DEFAULT_PORT),
    DIRECTOR("director", "--director", AdminKind.DIRECTOR_PORT);

    /** The port of a director's API. */
    public static final int DIRECTOR_PORT = 3325;

    final String who;
    /** Of the command line, by which another one is named. */
    final String option;

    final int defaultPort;

    AdminKind(String who, String option, int defaultPort) {
        this.who = who;
        this.option = option;
        this.defaultPort = defaultPort;
    }
}
