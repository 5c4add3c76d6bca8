package org.tamanoir.benchmarks;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;

/** What the figures depend on. */
public final class Host {
    private Host() {}

    /** Processor, memory, kernel and Java, by name. */
    public static Map<String, String> facts() {
        Map<String, String> facts = new LinkedHashMap<>();
        facts.put("processor", field("/proc/cpuinfo", "model name"));
        facts.put("processors", Integer.toString(Runtime.getRuntime().availableProcessors()));
        facts.put("memory", field("/proc/meminfo", "MemTotal"));
        facts.put("kernel", System.getProperty("os.name") + " " + System.getProperty("os.version"));
        facts.put("load generator", "Java " + System.getProperty("java.runtime.version"));
        return facts;
    }

    private static String field(String file, String name) {
        try {
            return Files.readAllLines(Path.of(file)).stream()
                    .filter(line -> line.startsWith(name))
                    .map(line -> line.substring(line.indexOf(':') + 1).trim())
                    .findFirst()
                    .orElse("unknown");
        } catch (IOException e) {
            return "unknown";
        }
    }
}
