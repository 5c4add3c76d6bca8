package org.tamanoir.cluster.element.ring;

import org.tamanoir.cluster.element.Token;

/** What carries a party's messages. Nothing here blocks or calls back; what cannot be sent is lost. */
interface Wire {
    void send(int to, Token token);

    void send(int to, Message message);
}
