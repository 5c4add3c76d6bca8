package org.tamanoir.benchmarks.element;

import org.tamanoir.benchmarks.NodeJvm;

/**
 * How experiments run.
 *
 * @param runs in virtual time
 * @param seconds that a figure of real rings and processes is measured for
 * @param rate datagrams a second through real units
 * @param node how real units and both ends are started
 */
record Settings(Runs runs, double seconds, int rate, NodeJvm node) {}
