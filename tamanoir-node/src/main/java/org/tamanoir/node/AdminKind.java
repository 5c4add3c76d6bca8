package org.tamanoir.node;

/** What has an admin API, as errors and options name it. */
enum AdminKind {
    NODE("node", "--admin", AdminConfig.DEFAULT_PORT),
    DIRECTOR("director", "--director", DirectorFile.DEFAULT_PORT);

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
