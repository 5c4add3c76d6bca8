/** Commands that look at a running node and change it by its admin API. */
@NullMarked
package org.tamanoir.node.ctl;

import org.jspecify.annotations.NullMarked;
