package org.tamanoir.kernel;

import java.io.IOException;
import java.io.InputStream;
import java.util.Map;
import org.tamanoir.nodeos.LevelException;

/**
 * A BPF object file in the kernel: its programs and maps, by name. Closing gives back what nothing else holds.
 *
 * <p>Thread contract: one thread at a time.
 */
final class BpfObject implements AutoCloseable {
    private static final String FOLDER = "bpf/";

    private final String name;
    private long object;

    private BpfObject(String name, long object) {
        this.name = name;
        this.object = object;
    }

    /**
     * Loads an object file of the node's jar.
     *
     * @param shared descriptors of maps that are there already, by the names of the maps that they stand in for
     */
    static BpfObject load(String name, Map<String, Integer> shared) throws LevelException {
        byte[] elf;
        try (InputStream in = BpfObject.class.getResourceAsStream(FOLDER + name)) {
            if (in == null) {
                throw new LevelException("this build has no BPF program " + name
                        + ": build on a host with clang and libbpf-dev, see native/build.sh");
            }
            elf = in.readAllBytes();
        } catch (IOException e) {
            throw new LevelException("BPF object " + name + " cannot be read: " + e.getMessage(), e);
        }
        return load(name, elf, shared);
    }

    /** Loads these bytes. */
    static BpfObject load(String name, byte[] elf, Map<String, Integer> shared) throws LevelException {
        String whyNot = LibBpf.whyNot();
        if (whyNot != null) {
            throw new LevelException(whyNot);
        }
        return new BpfObject(name, LibBpf.load(name, elf, object -> {
            for (Map.Entry<String, Integer> map : shared.entrySet()) {
                int result = LibBpf.bpf_map__reuse_fd(find(name, object, map.getKey()), map.getValue());
                if (result < 0) {
                    throw new LevelException(
                            "BPF object " + name + " cannot share map " + map.getKey() + ": " + BpfLibC.error(result));
                }
            }
        }));
    }

    private static long find(String name, long object, String map) throws LevelException {
        long found = LibBpf.bpf_object__find_map_by_name(object, map);
        if (found == 0) {
            throw new LevelException("BPF object " + name + " has no map " + map + ": rebuild it");
        }
        return found;
    }

    /** Returns the descriptor of a map, valid until close. */
    int map(String map) throws LevelException {
        return LibBpf.bpf_map__fd(find(name, object, map));
    }

    /** Returns the descriptor of a program, valid until close. */
    int program(String program) throws LevelException {
        long found = LibBpf.bpf_object__find_program_by_name(object, program);
        if (found == 0) {
            throw new LevelException("BPF object " + name + " has no program " + program + ": rebuild it");
        }
        return LibBpf.bpf_program__fd(found);
    }

    @Override
    public void close() {
        if (object != 0) {
            LibBpf.bpf_object__close(object);
            object = 0;
        }
    }
}
