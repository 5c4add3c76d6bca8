package org.tamanoir.node;

import org.tamanoir.anep.Packet;
import org.tamanoir.service.PerPacket;
import org.tamanoir.service.Service;
import org.tamanoir.service.Verdict;

/** A service that only a configuration names, and classes that cannot be one. */
@PerPacket
public final class Unannounced extends Service {
    public Unannounced() {}

    @Override
    public Verdict process(Packet packet) {
        return Verdict.CONSUME;
    }

    /** Cannot be made. */
    public abstract static class Abstract extends Service {
        public Abstract() {}
    }

    /** Cannot be made without an argument. */
    public static final class Demanding extends Service {
        public Demanding(String argument) {
            setName(argument);
        }

        @Override
        public Verdict process(Packet packet) {
            return Verdict.CONSUME;
        }
    }

    /** Cannot be made from outside. */
    static final class Hidden extends Service {
        @Override
        public Verdict process(Packet packet) {
            return Verdict.CONSUME;
        }
    }
}
