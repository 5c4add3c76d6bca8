/** What commands have in common: their output, exit codes, log and tokens. */
@NullMarked
package org.tamanoir.node.cli;

import org.jspecify.annotations.NullMarked;
