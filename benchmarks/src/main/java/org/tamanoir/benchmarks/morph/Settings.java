package org.tamanoir.benchmarks.morph;

import org.tamanoir.benchmarks.NodeJvm;

/**
 * How experiments run.
 *
 * @param node how nodes are started
 * @param seconds that a figure is measured for in real processes
 * @param rounds of all settings in turns
 * @param records of a round whose processor time is measured in this process
 */
record Settings(NodeJvm node, double seconds, int rounds, int records) {}
