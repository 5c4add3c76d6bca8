/** Arrivals from traces and models that go into the node's reception without sockets: what the node alone costs. */
@org.jspecify.annotations.NullMarked
package org.tamanoir.benchmarks.emulate;
