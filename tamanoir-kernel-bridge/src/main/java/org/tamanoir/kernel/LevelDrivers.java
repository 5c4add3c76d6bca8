package org.tamanoir.kernel;

import java.util.List;
import org.tamanoir.nodeos.LevelException;

/** Opens the drivers of the levels that a host has. */
interface LevelDrivers {
    LevelDriver tc(int instance, List<String> interfaces) throws LevelException;

    /** @param tc the driver whose maps are shared */
    LevelDriver xdp(int instance, List<String> interfaces, LevelDriver tc) throws LevelException;

    LevelDriver module() throws LevelException;
}
