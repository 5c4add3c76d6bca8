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
    /** What a token allows; each right lets its holder read, too. */
    public enum Right {
        READ,
        CONTROL,
        CHANGE
    }

    /** Makes a token that is not for services alone. */
    public AdminToken(String name, Token token, Right right) {
        this(name, token, right, Set.of());
    }
}
