/** The Active Node Manager: deploys services, changes routes, knows the node's state. */
@NullMarked
package org.tamanoir.manager;

import org.jspecify.annotations.NullMarked;
