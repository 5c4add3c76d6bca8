/** Pages that show experiments: the papers' figures beside ours, with plots and data. */
@NullMarked
package org.tamanoir.benchmarks.report;

import org.jspecify.annotations.NullMarked;
