/** The director of a cluster: its file, its process, and the commands that steer it. */
@NullMarked
package org.tamanoir.node.director;

import org.jspecify.annotations.NullMarked;
