package org.tamanoir.node.admin;

import java.util.Set;
import org.tamanoir.repository.Token;

/**
 * A token that the admin API knows.
 *
 * @param name what events and the log call its holder
 * @param right what it allows
 * @param services whose controls it allows to change, with {@link Right#CONTROL} alone
 */
public record AdminToken(String name, Token token, Right right, Set<String> services) {
    /** What a token allows. */
    public enum Right {
        /** To change the services of the token by their controls, and to read what is told of these services. */
        CONTROL,
        /** To read all. */
        READ,
        /** To change all, and to read all. */
        CHANGE
    }

    /** Makes a token that is not for services alone. */
    public AdminToken(String name, Token token, Right right) {
        this(name, token, right, Set.of());
    }
}
